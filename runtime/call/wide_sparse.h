// Sparse widening: wide accumulation that keeps accumulators only for the parts of the result that updates reach. runtime/call/wide chooses
// between it and accumulators for the whole result.
#pragma once

#include <cstdint>

#include "runtime/call/callable.h"

namespace strew::inline v0 {

struct SparseWidenCall {
  const strew_kernel &fold, &narrow;
  const strew_args *fold_args, *narrow_args;  ///< both stages bound to a whole accumulator; its address is replaced
  int64_t positions, elements;                ///< index positions; elements of the result
  Bytes scratch_bytes;                        ///< the most that may be borrowed
  int threads;
  const ExecutionLimits& limits = kDefaultLimits;
};
/// Folds all updates and rounds every part of the result that they reach. Returns false, having done nothing, if the scratch would be too
/// large or cannot be allocated.
bool run_wide_sparse(Team& team, Scratch& scratch, const SparseWidenCall& call);

}  // namespace strew::inline v0
