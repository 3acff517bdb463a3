// compile_body(): makes a Body of an expression graph. What only moves or combines values goes straight from slot to slot; the rest becomes
// steps over blocks of elements. Values in columns are codes, as in memory, but a byte for each element of 4 bits; arithmetic on dtypes that
// are narrower than a Base first decodes the codes and then encodes the result, once per node. Tested by tests/differential.
#pragma once

#include <vector>

#include "backends/portable/program.h"

namespace strew::inline v0::portable {

struct BodyRequest {
  const Expr& expr;
  const Plan& plan;
  /// Tensors of the plan.
  std::vector<int> results, currents, updates, extras;
  /// If set, the `current` node is this constant: a gather's fill value.
  const Scalar* current = nullptr;
  /// `update` nodes read the private table of the result with the same number.
  bool updates_are_tables = false;
  /// The body's slots begin with these.
  std::vector<Slot> slots = {};
};

Body compile_body(const BodyRequest& request, const Loops& table);

/// log2 of the elements of a dtype per byte: 0 for whole bytes.
uint8_t log2_per_byte(DType dtype);
/// The distance in places between elements of a dtype: their bytes, or 1 if they have less than one.
int64_t place_unit(DType dtype);

}  // namespace strew::inline v0::portable
