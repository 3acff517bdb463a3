// The running part of a strategy: how the updates of a call are divided among threads. schedules/strategies has the planning part.
//
// To add a strategy, see schedules/strategies/strategy.h; its running part here defines apply_NAME.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "runtime/call/bind.h"
#include "runtime/call/callable.h"
#include "runtime/call/descriptor.h"

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

}  // namespace strew::inline v0
