// Strategy private: every chunk of positions has its own copy of the results, started at the combiner's identity; the copies are then
// combined into the results, in chunk order.
#pragma once

#include <cstdint>

#include "runtime/call/strategies/strategy.h"

namespace strew {

struct PrivateCall {
  const strew_kernel& kernel;
  const strew_args* args;
  int64_t positions;
  int64_t elements;  ///< of each result; they are contiguous
  int tables, threads;
  const ExecutionLimits& limits = kDefaultLimits;
};
/// Bytes of that many tables. A call borrows one per thread, and one less than `tables` at most: the result is the first.
int64_t private_bytes(const strew_kernel& kernel, int64_t elements, int tables);
/// False: no memory, nothing was done.
bool run_private(Executor::Team& team, Scratch& scratch, const PrivateCall& call);

}  // namespace strew
