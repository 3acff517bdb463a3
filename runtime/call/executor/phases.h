// The phases of a call: check every index (policy error), initialise the result, apply.
#pragma once

#include <limits>
#include <span>

#include "runtime/call/callable.h"
#include "runtime/call/descriptor.h"
#include "runtime/call/executor/chunks.h"

namespace strew {

/// The entries' arguments of a bound call.
strew_args arguments_of(const Call& call);
/// Policy error: all indices, before anything is written. Otherwise nothing.
Status check_indices(const Callable& callable, std::span<const TensorView> tensors, const Call& call, strew_fault* fault);
/// Init copy and fill: the result, unless it is the operand. Otherwise nothing.
void make_result(const Callable& callable, const Call& call);

/// `call` is bound. out_of_bounds: nothing was written, `fault` (if given) is filled.
Status run_phases(const Callable& callable, std::span<const TensorView> tensors, const Call& call, strew_fault* fault);
/// One thread's time for the updates, roughly, in nanoseconds.
inline int64_t apply_nanoseconds(const Callable& callable, const Call& call) {
  const strew_kernel& kernel = callable.kernel;
  int64_t bytes = 0;
  if (__builtin_mul_overflow(evaluate(kernel, kernel.window, call.dyn), result_bytes(kernel), &bytes) ||
      __builtin_mul_overflow(bytes, call.positions, &bytes))
    bytes = std::numeric_limits<int64_t>::max();
  return estimate(call.positions, bytes);
}

/// May this call go through run_at_once()? Its result needs no making, its check, if it has one, is not worth threads, and its updates are
/// applied by one thread.
inline bool is_direct(const Callable& callable, const Call& call) {
  if (call.init != 0 && !call.result_is_operand) return false;
  if (callable.check_at_once != nullptr && call.positions > callable.checked_alone) return false;
  return callable.is_sequential ||
         (callable.may_be_alone && apply_nanoseconds(callable, call) < 2 * callable.limits->thread_nanoseconds);
}
/// The same as run_phases() for such calls: the check, if there is one, and one call of the range entry.
Status run_at_once(const Callable& callable, std::span<const TensorView> tensors, const Call& call, strew_fault* fault);

}  // namespace strew
