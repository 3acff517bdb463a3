// The running part of a strategy: how the updates of a call are divided among threads. schedules/strategies has the planning part.
//
// To add a strategy, see schedules/strategies/strategy.h; its running part here defines apply_NAME.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "runtime/call/bind.h"
#include "runtime/call/callable.h"
#include "runtime/call/descriptor.h"
#include "runtime/call/strategies/key_scan.h"

namespace strew::inline v0 {

/// A bound call whose indices are checked and whose results hold the values from before the updates.
struct ApplyCall {
  const Callable& callable;
  const Call& call;
  std::span<const TensorView> tensors;
  const strew_args& args;
  int threads;                 ///< how many threads the work is worth
  Nanoseconds alone;           ///< what one thread would need
  CallCosts::Streams streams;  ///< what it would need of that for what it reads and writes in order
  Bytes table;                 ///< the indexed tensor

  const strew_kernel& kernel() const { return callable.kernel; }
  const ExecutionLimits& limits() const { return *callable.limits; }
  strew_entry entry(int kind) const { return callable.kernel.entries[kind]; }
  KeyScan keys() const { return {entry(STREW_ENTRY_keys), args}; }
  Bytes key_bytes() const { return strew::key_bytes(kernel(), args.dyn); }
  /// The most that may be borrowed.
  Bytes scratch_bytes() const { return Bytes(int64_t{kernel().scratch_mib} << 20); }
};

ApplyCall apply_call(const Callable& callable, const Call& call, std::span<const TensorView> tensors, const strew_args& args);

// bool apply_NAME(const ApplyCall&) applies all updates. It returns false, having written nothing, if the strategy does not suit the call;
// then one thread runs the range entry.
#define STREW_DECLARE_APPLY(strategy, text) bool apply_##strategy(const ApplyCall& call);
STREW_STRATEGIES(STREW_DECLARE_APPLY)
#undef STREW_DECLARE_APPLY

/// Iterations of a loop in which it moves by a whole number of cache lines of the result.
inline int64_t line_unit(const ApplyCall& call, const strew_term& stride) {
  return line_unit(call.kernel(), stride, call.args.dyn, call.limits().line_bytes);
}
/// Strategy clip: the coordinates that are cut into ranges.
inline int64_t clip_extent(const ApplyCall& call) { return evaluate(call.kernel(), call.kernel().clip_extent, call.args.dyn); }
/// Strategy positions: the first position of a chunk is a multiple of this.
int64_t position_unit(const ApplyCall& call);

/// The strategy that takes least time, of those that the kernel can run; a STREW_STRATEGY_... Takes a few nanoseconds.
int choose_strategy(const ApplyCall& call);
/// Those of the kernel's strategies that the estimates give at most so many times the least time; a list that ends at -1.
std::array<int, STREW_STRATEGY_COUNT> strategies_within(const ApplyCall& call, double times);
/// Applies all updates with that strategy.
void apply(const Callable& callable, const Call& call, std::span<const TensorView> tensors, const strew_args& args);

// Strategy private (private_tables.cc): each chunk of positions is applied to a table of its own, a copy of the results that starts as the
// combiner's identity. The tables are then combined into the results, in the order of the chunks.

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
  return are_enough && Bytes(private_bytes(call.kernel(), count, most_tables(call))) <= call.scratch_bytes();
}

}  // namespace strew::inline v0
