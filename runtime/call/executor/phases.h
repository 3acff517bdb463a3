// The phases of a call: check all indices (policy error), initialise the result, apply the updates.
#pragma once

#include <limits>
#include <span>

#include "runtime/call/callable.h"
#include "runtime/call/descriptor.h"
#include "runtime/call/executor/chunks.h"

namespace strew::inline v0 {

/// Under policy error, checks all indices before anything is written. Does nothing under other policies.
Status check_indices(const Callable& callable, std::span<const TensorView> tensors, const Call& call, strew_fault* fault);
/// With init copy or fill, writes the initial result, unless its buffer is the operand's. Does nothing otherwise.
void make_result(const Callable& callable, const Call& call);

/// Runs all phases of a call that is bound. On out_of_bounds nothing was written, and `fault`, if given, has the details.
Status run_phases(const Callable& callable, std::span<const TensorView> tensors, const Call& call, strew_fault* fault);
/// The nanoseconds that one thread would need for the updates, roughly.
inline int64_t apply_nanoseconds(const Callable& callable, const Call& call) {
  int64_t bytes = 0;
  if (__builtin_mul_overflow(call.window, callable.result_bytes, &bytes) || __builtin_mul_overflow(bytes, call.positions, &bytes))
    bytes = std::numeric_limits<int64_t>::max();
  return estimate(call.positions, bytes);
}

/// The error for an index that policy error refuses.
[[gnu::cold]] Status bad_index_error(const strew_kernel& kernel, std::span<const TensorView> tensors, const strew_fault& found,
                                     strew_fault* fault);

}  // namespace strew::inline v0
