// Wide accumulation that widens only what updates touch (runtime/call/wide is the one that widens everything).
#pragma once

#include <cstdint>

#include "runtime/call/callable.h"

namespace strew {

struct SparseWidenCall {
  const strew_kernel &fold, &narrow;
  const strew_args *fold_args, *narrow_args;  ///< of the whole accumulator, wherever that is
  int64_t positions, elements;                ///< index positions; elements of the result
  int64_t scratch_bytes;                      ///< the most
  int threads;
  const ExecutionLimits& limits = kDefaultLimits;
};
/// The fold and the narrowing of all touched elements. False: that much scratch is not to be had, nothing was done.
bool run_wide_sparse(Executor::Team& team, Scratch& scratch, const SparseWidenCall& call);

}  // namespace strew
