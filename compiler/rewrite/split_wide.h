// split_wide: splits a scatter with wide accumulation into ordinary scatters, so that every backend and strategy can run it.
//
//   start   (only if an operand's dtype differs from its result's) scratch of the results' dtype = operands, converted
//   fold    accumulators (wide dtype, contiguous scratch) = operands or start's scratch, converted, then the updates folded
//           in the wide dtype
//   narrow  a scatter with one position whose window is the whole result: keeps an element whose accumulator still has the
//           bits it started with (no update changed it), and otherwise rounds the accumulator to the result
//
// It makes several ops of one, so it is not in the list of rewrites.h; backends/pipeline calls it. Tested by
// tests/unit/compiler/rewrite/split_wide_test.cc.
#pragma once

#include <optional>

#include "strew/export.h"
#include "strew/expr_builder.h"
#include "strew/verified.h"

namespace strew::inline v0 {

struct WideSplit {
  /// Operands: the op's operands; of init in_place, the op's results; if there is a start, start's results. Results: the
  /// accumulators.
  Scatter fold;
  Scatter narrow;  ///< results and init: the op's; updates: the accumulators; indices: i32[0]
  /// Updates: the op's operands; results: scratch of the results' dtype, so that the fold starts from what the results
  /// would hold; indices: i32[0].
  std::optional<Scatter> start;
};

/// Appends one result of narrow and returns it. current: the element of the result; update: its accumulator.
STREW_API int32_t add_narrowing(ExprBuilder& e, int32_t pair, DType dtype, DType wide);

/// The parts; none if the op is not a scatter with wide accumulation.
std::optional<WideSplit> split_wide(const VerifiedOp& op);

}  // namespace strew::inline v0
