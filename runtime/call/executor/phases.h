// The phases of a call: check every index (policy error), initialise the result, apply.
#pragma once

#include <span>

#include "runtime/call/callable.h"

namespace strew {

/// The entries' arguments of a bound call.
strew_args arguments_of(const Call& call);
/// Policy error: all indices, before anything is written. Otherwise nothing.
Status check_indices(const Callable& callable, std::span<const TensorView> tensors, const Call& call, strew_fault* fault);
/// Init copy and fill: the result, unless it is the operand. Otherwise nothing.
void make_result(const Callable& callable, const Call& call);

/// `call` is bound. out_of_bounds: nothing was written, `fault` (if given) is filled.
Status run_phases(const Callable& callable, std::span<const TensorView> tensors, const Call& call, strew_fault* fault);
/// May this call go through run_at_once()? Its kernel may (Callable::is_direct), its result needs no making, and its check, if it has one, is
/// not worth threads.
inline bool is_direct(const Callable& callable, const Call& call) {
  return callable.is_direct && (call.init == 0 || call.result_is_operand) &&
         (callable.check_at_once == nullptr || call.positions <= callable.checked_alone);
}
/// The same as run_phases() for such calls: the check, if there is one, and one call of the range entry.
Status run_at_once(const Callable& callable, std::span<const TensorView> tensors, const Call& call, strew_fault* fault);

}  // namespace strew
