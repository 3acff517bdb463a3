// The running part of a strategy: how the updates of a call are divided among threads. schedules/strategies has the planning part.
//
// To add a strategy, add its line in STREW_STRATEGIES (strew/abi.h), its file here, which defines apply_NAME
// and nanoseconds_NAME, and its planning file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "runtime/call/bind.h"
#include "runtime/call/callable.h"

namespace strew::inline v0 {

/// A bound call whose indices are checked and whose results hold the values from before the updates.
struct ApplyCall {
  const Callable& callable;
  const Call& call;
  std::span<const TensorView> tensors;
  const strew_args& args;
  int threads;          ///< how many threads the work is worth
  int64_t nanoseconds;  ///< what one thread would need
  int64_t table_bytes;  ///< of the indexed tensor

  const strew_kernel& kernel() const { return callable.kernel; }
  const ExecutionLimits& limits() const { return *callable.limits; }
  strew_entry entry(int kind) const { return callable.kernel.entries[kind]; }
  /// One thread's time, if it is cut into as many parts as there are threads but at most `parts`, and `repeated` of it is done by
  /// every thread; with fork and join of `phases`.
  double shared_out(double parts, double repeated, int phases) const {
    const double threads_busy = std::clamp(parts, 1.0, static_cast<double>(threads)), one = static_cast<double>(nanoseconds);
    return repeated + (one - std::min(repeated, one)) / threads_busy + phases * static_cast<double>(callable.costs.phase_ns);
  }
  /// Computing the keys of all positions.
  double keys_ns() const { return static_cast<double>(call.positions) * static_cast<double>(callable.costs.key_ns); }
  /// What every thread does that visits all positions, besides its part of their windows.
  double visits_ns() const { return static_cast<double>(call.positions) * static_cast<double>(callable.costs.position_ns); }
};

// bool apply_NAME(const ApplyCall&) applies all updates. It returns false, having written nothing, if the strategy does not suit the call;
// then one thread runs the range entry.
// double nanoseconds_NAME(const ApplyCall&) says how long that takes, roughly; only the ratio of two strategies counts.
#define STREW_DECLARE_APPLY(strategy, text)     \
  bool apply_##strategy(const ApplyCall& call); \
  double nanoseconds_##strategy(const ApplyCall& call);
STREW_STRATEGIES(STREW_DECLARE_APPLY)
#undef STREW_DECLARE_APPLY

/// The strategy that takes least time, of those that the kernel can run; a STREW_STRATEGY_... Takes a few nanoseconds.
int choose_strategy(const ApplyCall& call);
/// Applies all updates with that strategy.
void apply(const Callable& callable, const Call& call, std::span<const TensorView> tensors, const strew_args& args);

}  // namespace strew::inline v0
