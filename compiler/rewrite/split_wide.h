// split_wide: a scatter with wide accumulation as two ordinary scatters, so that every backend and strategy serves it.
//
//   fold    result' (wide dtype, contiguous scratch) = init converted, then the updates folded in the wide dtype
//   narrow  result = one position whose window is everything: keep the element where the accumulator still has the bits it started
//           with (no update, or none that mattered), else round the accumulator once
//
// Not one of the list in rewrites.h: it makes two ops of one, so backends/pipeline calls it.
#pragma once

#include <optional>

#include "strew/verified.h"

namespace strew::inline v0 {

struct WideSplit {
  Scatter fold;    ///< operands: the original's operands, or its results under in_place; results: the scratch
  Scatter narrow;  ///< results and init as the original's; updates: the scratch; indices: i32[0]
  /// Where an operand's dtype is not its result's, the fold starts from what the result would hold, in scratch of its own: results: that
  /// scratch, which the fold has as operands; updates: the original's operands; indices: i32[0].
  std::optional<Scatter> start;
};

/// Nothing if the op does not accumulate wide.
std::optional<WideSplit> split_wide(const VerifiedOp& op);

}  // namespace strew::inline v0
