// The phases of a call: check all indices (policy error), initialise the result, apply the updates.
#pragma once

#include <span>

#include "runtime/call/callable.h"
#include "runtime/call/descriptor.h"
#include "runtime/call/executor/chunks.h"

namespace strew::inline v0 {

/// Under policy error, checks all indices before anything is written. Does nothing under other policies.
Status check_indices(const Callable& callable, std::span<const TensorView> tensors, const Call& call, BadIndex* bad_index);
/// With init copy or fill, writes the initial result, unless its buffer is the operand's. Does nothing otherwise.
void make_result(const Callable& callable, const Call& call);

/// Runs all phases of a call that is bound. On out_of_bounds nothing was written, and `bad_index`, if given, has the details.
Status run_phases(const Callable& callable, std::span<const TensorView> tensors, const Call& call, BadIndex* bad_index);
/// Of the windows of one position, in the result.
inline EstimatedBytes window_bytes(const Callable& callable, const Call& call) {
  return EstimatedBytes(static_cast<double>(call.window) * static_cast<double>(callable.result_bytes));
}
/// The nanoseconds that one thread would need for the updates, roughly.
inline double apply_nanoseconds(const Callable& callable, const Call& call, Bytes table) {
  return callable.costs.of_windows(call.positions, window_bytes(callable, call), table);
}
/// The same where the table's shape need not be known.
inline double apply_nanoseconds(const Callable& callable, const Call& call) {
  return apply_nanoseconds(callable, call, callable.table_bytes);
}

/// Do so many bytes, written by so many threads, exceed the last-level cache, with the bytes that they come from? Then stores that bypass the
/// caches are faster.
inline bool exceeds_cache(Bytes bytes, int threads, Bytes cache) { return bytes / threads * 2 > cache / 2; }
/// Bytes of the indexed tensor; saturates.
Bytes table_bytes(const strew_kernel& kernel, std::span<const TensorView> tensors);

/// The error for an index that policy error refuses.
[[gnu::cold]] Status bad_index_error(const strew_kernel& kernel, std::span<const TensorView> tensors, const strew_fault& found,
                                     BadIndex* bad_index);

}  // namespace strew::inline v0
