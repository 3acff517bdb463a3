// The phases of a call: check every index (policy error), initialise the result, apply.
#pragma once

#include <span>

#include "runtime/call/executor/limits.h"
#include "runtime/kernel_state.h"

namespace strew {

/// What one thread would need, roughly, in nanoseconds; and how many threads that is worth.
int64_t estimate(int64_t positions, int64_t bytes);
int threads_for(int64_t nanoseconds, int most, const ExecutionLimits& limits = kDefaultLimits);

/// The entries' arguments of a bound call.
strew_args arguments_of(const Call& call);
/// Policy error: all indices, before anything is written. Otherwise nothing.
Status check_indices(const Kernel::State& state, std::span<const TensorView> tensors, const Call& call, strew_fault* fault);
/// Init copy and fill: the result, unless it is the operand. Otherwise nothing.
void make_result(const Kernel::State& state, const Call& call);

/// `call` is bound. out_of_bounds: nothing was written, `fault` (if given) is filled.
Status run_phases(const Kernel::State& state, std::span<const TensorView> tensors, const Call& call, strew_fault* fault);
/// May this call go through run_at_once()? Its kernel may (Kernel::State::is_direct), its result needs no making, and its check, if it has
/// one, is not worth threads.
inline bool is_direct(const Kernel::State& state, const Call& call) {
  return state.is_direct && (call.shape->init == 0 || call.result_is_operand) &&
         (state.check_at_once == nullptr || call.shape->positions <= state.checked_alone);
}
/// The same as run_phases() for such calls: the check, if there is one, and one call of the range entry.
Status run_at_once(const Kernel::State& state, std::span<const TensorView> tensors, const Call& call, strew_fault* fault);

}  // namespace strew
