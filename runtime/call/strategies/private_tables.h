// Strategy private: each chunk of positions is applied to a table of its own, a copy of the results that starts as the combiner's identity.
// The tables are then combined into the results, in the order of the chunks.
#pragma once

#include <cstdint>

#include "runtime/call/strategies/strategy.h"
#include "strew/export.h"

namespace strew::inline v0 {

struct PrivateCall {
  const strew_kernel& kernel;
  const strew_args* args;
  int64_t positions;
  int64_t elements;  ///< elements of each result, which are contiguous
  int tables, threads;
  const ExecutionLimits& limits = kDefaultLimits;
};
/// Bytes of `tables` tables. A call borrows one table per thread, but at most `tables` - 1, since the result itself is the first table.
int64_t private_bytes(const strew_kernel& kernel, int64_t elements, int tables);
/// Returns false, having done nothing, if no memory can be allocated.
bool run_private(Team& team, Scratch& scratch, const PrivateCall& call);

}  // namespace strew::inline v0
