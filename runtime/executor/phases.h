// The phases of a call: check every index (policy error), initialise the result, apply.
#pragma once

#include <span>

#include "runtime/kernel_state.h"

namespace strew {

/// What one thread would need, roughly, in nanoseconds; and how many threads that is worth.
int64_t estimate(int64_t positions, int64_t bytes);
int threads_for(int64_t nanoseconds, int most);

/// The entries' arguments of a bound call.
strew_args arguments_of(const Call& call);
/// Policy error: all indices, before anything is written. Otherwise nothing.
Status check_indices(const Kernel::State& state, std::span<const TensorView> tensors, const Call& call, strew_fault* fault);
/// Init copy and fill: the result, unless it is the operand. Otherwise nothing.
void make_result(const Kernel::State& state, const Call& call);

/// `call` is bound. out_of_bounds: nothing was written, `fault` (if given) is filled.
Status run_phases(const Kernel::State& state, std::span<const TensorView> tensors, const Call& call, strew_fault* fault);
/// The same where there is nothing to make but one call of the range entry (Kernel::State::is_one_call, and the result is there).
void run_at_once(const Kernel::State& state, const Call& call);

}  // namespace strew
