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

#include "base/number.h"
#include "strew/expr_builder.h"
#include "strew/verified.h"

namespace strew::inline v0 {

/// The dtype of the accumulators.
constexpr DType wide_dtype(Accumulate accumulate) { return accumulate == Accumulate::wide_f64 ? DType::f64 : DType::f32; }

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
inline int32_t add_narrowing(ExprBuilder& e, int32_t pair, DType dtype, DType wide) {
  const DType as_bits = *bits_dtype(wide);
  const int32_t current = e.current(pair, dtype), sum = e.update(pair, wide);
  const int32_t start = e.convert(current, wide);
  const int32_t start_bits = e.bitcast(start, as_bits), end_bits = e.bitcast(sum, as_bits);
  const int32_t same = e.apply(ExprOp::eq, {start_bits, end_bits});
  // A NaN stays a NaN whatever is added to it, so the element may be kept. The bits do not tell: two conversions of a
  // NaN (a fill value is converted here, not by the kernel) may differ in payload.
  const int32_t is_nan = e.apply(ExprOp::ne, {start, start});
  const int32_t untouched = e.apply(ExprOp::bit_or, {same, is_nan});
  const int32_t rounded = e.convert(sum, dtype);
  return e.apply(ExprOp::select, {untouched, current, rounded});
}

/// The parts; none if the op is not a scatter with wide accumulation.
std::optional<WideSplit> split_wide(const VerifiedOp& op);

}  // namespace strew::inline v0
