// The running half of a strategy: how a call's updates are shared out over threads. The planning half is schedules/strategies.
//
// To add one: its line in STREW_STRATEGIES (strew/abi.h), its file here, which defines apply_NAME, and its file there.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/call/bind.h"
#include "runtime/call/callable.h"

namespace strew {

/// A bound call whose indices are checked and whose results hold what they held before the updates.
struct ApplyCall {
  const Callable& callable;
  const Call& call;
  std::span<const TensorView> tensors;
  const strew_args& args;
  int threads;          ///< that the work is worth
  int64_t nanoseconds;  ///< that one thread would need

  const strew_kernel& kernel() const { return callable.kernel; }
  const ExecutionLimits& limits() const { return *callable.limits; }
  strew_entry entry(int kind) const { return callable.kernel.entries[kind]; }
};

// bool apply_NAME(const ApplyCall&). False: not for this call, nothing was written, and the plain loop is to do it.
#define STREW_DECLARE_APPLY(strategy, text) bool apply_##strategy(const ApplyCall& call);
STREW_STRATEGIES(STREW_DECLARE_APPLY)
#undef STREW_DECLARE_APPLY

/// Applies all updates by the kernel's strategy.
void apply(const Callable& callable, const Call& call, std::span<const TensorView> tensors, const strew_args& args);

}  // namespace strew
