// The phases of a call: check every index (policy error), initialise the result, apply.
#pragma once

#include <limits>
#include <span>

#include "runtime/call/callable.h"
#include "runtime/call/descriptor.h"
#include "runtime/call/executor/chunks.h"

namespace strew {

/// Policy error: all indices, before anything is written. Otherwise nothing.
Status check_indices(const Callable& callable, std::span<const TensorView> tensors, const Call& call, strew_fault* fault);
/// Init copy and fill: the result, unless it is the operand. Otherwise nothing.
void make_result(const Callable& callable, const Call& call);

/// `call` is bound. out_of_bounds: nothing was written, `fault` (if given) is filled.
Status run_phases(const Callable& callable, std::span<const TensorView> tensors, const Call& call, strew_fault* fault);
/// One thread's time for the updates, roughly, in nanoseconds.
inline int64_t apply_nanoseconds(const Callable& callable, const Call& call) {
  int64_t bytes = 0;
  if (__builtin_mul_overflow(call.window, callable.result_bytes, &bytes) || __builtin_mul_overflow(bytes, call.positions, &bytes))
    bytes = std::numeric_limits<int64_t>::max();
  return estimate(call.positions, bytes);
}

/// The error of a bad index: policy `error`.
[[gnu::cold]] Status bad_index_error(const strew_kernel& kernel, std::span<const TensorView> tensors, const strew_fault& found,
                                     strew_fault* fault);

}  // namespace strew
