// Calls of kernels with wide accumulation. Such a kernel has two stages (compiler/rewrite/split_wide): the fold combines updates with an
// accumulator in the wide dtype, and the narrowing rounds the accumulator into the result. Some kernels also have a part that does both in one pass
// over sorted destinations, with a row's accumulators in registers (STREW_SUMS).
#pragma once

#include <span>

#include "runtime/call/callable.h"

namespace strew::inline v0 {

/// The scratch that one call borrows: for each result an accumulator of `elements` elements in the wide dtype, on cache lines of its own,
/// and a copy in the result's dtype where operands have another dtype.
int64_t wide_scratch_bytes(const strew_kernel& kernel, int64_t elements);

/// Runs both stages, or the part STREW_SUMS where there is one and destinations are sorted. `tensors` are those of the whole kernel, already bound to it. The fold checks the indices first, so on an error the
/// result is not written.
Status run_wide(const Callable& callable, std::span<const TensorView> tensors, const CallOptions& options);

// Sums in registers (wide_sums.cc).

/// Runs the part STREW_SUMS. Returns false, having written nothing, if the destinations of the call are not sorted, or might be cut among threads
/// unevenly.
Expected<bool> try_sums(const Callable& callable, std::span<const TensorView> tensors, const CallOptions& options);

// Sparse widening (wide_sparse.cc): wide accumulation that keeps accumulators only for the parts of the result that updates reach. run_wide()
// chooses between it and accumulators for the whole result.

/// A call whose stages are bound to a whole accumulator, the address of which is replaced.
struct SparseWidenCall {
  const Callable &fold, &narrow;
  const strew_args fold_args, narrow_args;
  int64_t positions, elements;  ///< index positions; elements of the result
};
/// Folds all updates and rounds every part of the result that they reach. Returns false, having done nothing, if the scratch would exceed the
/// schedule's scratch_mib or cannot be allocated.
bool run_wide_sparse(const Callable& callable, Team& team, const SparseWidenCall& call);

}  // namespace strew::inline v0
