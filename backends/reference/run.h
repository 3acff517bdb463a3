// Scatter and gather as docs/semantics.md defines them. Tested by tests/unit/backends/reference/reference_scatter_test.cc and
// tests/unit/backends/reference/reference_gather_test.cc.
#pragma once

#include <optional>
#include <span>

#include "strew/abi.h"
#include "strew/op.h"
#include "strew/tensor_view.h"

namespace strew::inline v0::reference {

/// Runs the op. Policy `error`: if an index is out of bounds, writes nothing and returns the first such index.
std::optional<strew_fault> run(const Scatter& op, std::span<const TensorView> tensors);
std::optional<strew_fault> run(const Gather& op, std::span<const TensorView> tensors);

/// The dtype of the accumulator of a destination of dtype `result`. Native accumulation uses `result` itself; wide uses f32 and wide_f64 uses f64
/// for floats that are narrower, and `result` for all other dtypes. Tested by tests/unit/compiler/evaluate/reference_arithmetic_test.cc.
DType accumulator_dtype(Accumulate accumulate, DType result);

}  // namespace strew::inline v0::reference
