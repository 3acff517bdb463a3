// Rules over the shapes of a call: does a constraint between extents hold, and how much work is there? They are templates because the
// descriptor and its packed form (packed_rules.cc) both evaluate them.
#pragma once

#include <cstdint>

#include "base/strides.h"
#include "runtime/call/call.h"
#include "runtime/call/extent.h"
#include "strew/abi.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

/// Does `constraint`, a strew_constraint or its packed form, hold? The tensors must have the ranks that the descriptor requires.
template <typename Constraint>
bool holds(const Constraint& constraint, const TensorView* tensors) {
  const TensorView& view = tensors[constraint.tensor];
  const TensorView& other = tensors[constraint.other];
  switch (constraint.kind) {
    case STREW_EQUAL:
      return view.dims[constraint.dim] == other.dims[constraint.other_dim];
    case STREW_AT_MOST:
      return view.dims[constraint.dim] <= other.dims[constraint.other_dim];
    case STREW_NOT_EMPTY:
      return view.dims[constraint.dim] != 0 || is_empty(other.dims, other.rank);
    case STREW_EMPTY:
      return view.dims[constraint.dim] == 0 || is_empty(other.dims, other.rank);
    case STREW_NOTHING:
      return is_empty(view.dims, view.rank);
    case STREW_DISTINCT: {
      const auto rank = static_cast<size_t>(view.rank);
      StrideBuffer buffer;  // NOLINT: filled by strides_of
      return distinct_offsets({view.dims, rank}, {strides_of(view, buffer), rank}) == Distinct::yes;
    }
  }
  return false;  // no kind of constraint
}

/// The counts that describe a call's work. From kCovers on, each cover has two: its window and its dim (strew_cover).
enum WorkTerm : uint32_t { kPositions, kSplits, kWindow, kInit, kCovers };

/// Fills the counts of `call`. `value(i)` returns the count WorkTerm i. `makes_result`: init is copy or fill. `may_overwrite` and `covers`
/// are the descriptor's: if the updates overwrite the whole result, it need not be initialised.
template <typename Value>
void count_work(bool makes_result, bool may_overwrite, uint32_t covers, const Value& value, Call& call) {
  call.positions = value(kPositions);
  call.splits = value(kSplits);
  call.window = value(kWindow);
  call.init = 0;
  if (!makes_result) return;
  call.init = value(kInit);
  int64_t written = 0;
  if (!may_overwrite || __builtin_mul_overflow(call.positions, call.window, &written) || written != call.init) return;
  for (uint32_t i = 0; i < covers; ++i)
    if (value(kCovers + 2 * i) != value(kCovers + 2 * i + 1)) return;
  call.init = 0;
}

}  // namespace strew::inline v0
