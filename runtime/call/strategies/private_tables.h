// Strategy private: each chunk of positions is applied to a table of its own, a copy of the results that starts as the combiner's identity.
// The tables are then combined into the results, in the order of the chunks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/call/strategies/strategy.h"

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
/// How many tables a call may have.
int most_tables(const ApplyCall& call);
/// `count`: elements of a result. Do the tables fit into the scratch that the schedule allows, and are there enough updates to repay them?
inline bool repays_tables(const ApplyCall& call, int64_t count) {
  if (call.call.positions == 0 || count == 0) return false;
  // Are there windows for at least count / window updates, rounded down? Multiplied out, because every call asks.
  const int64_t window = std::max<int64_t>(1, call.call.window);
  int64_t enough = 0;
  const bool are_enough = __builtin_mul_overflow(call.call.positions, call.limits().private_elements_per_update, &enough) ||
                          __builtin_add_overflow(enough, 1, &enough) || __builtin_mul_overflow(enough, window, &enough) ||
                          enough > count;
  return are_enough && private_bytes(call.kernel(), count, most_tables(call)) <= int64_t{call.kernel().scratch_mib} << 20;
}

/// Returns false, having done nothing, if no memory can be allocated.
bool run_private(Team& team, Scratch& scratch, const PrivateCall& call);

}  // namespace strew::inline v0
