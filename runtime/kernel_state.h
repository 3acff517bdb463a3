// Kernel::State: what a Kernel handle points to. Made by make_kernel, then immutable but for the call counter.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "backends/link.h"
#include "backends/pipeline.h"
#include "runtime/call/callable.h"
#include "runtime/kernel.h"

namespace strew {

struct Kernel::State {
  explicit State(Compiled made) : compiled(std::move(made)) {}

  // What every call reads, first.
  std::unique_ptr<const Callable> callable;
  bool is_plain = false;  ///< there is code, and calls are neither replayed nor checked for hints: the callable does it all

  bool checks_hints = false;  ///< schedule knob `checked`, and there are hints
  uint64_t verify_every = 0;
  Compiled compiled;
  std::shared_ptr<LinkedObject> object;  ///< null when interpreted
  std::shared_ptr<const strew_kernel> descriptor;
  int64_t compile_nanoseconds = 0;
  mutable std::atomic<uint64_t> calls{0};
};

/// Links the artifact (if there is code) and prepares binding. Neither `executor` nor `limits` may be null.
Expected<std::shared_ptr<Kernel::State>> make_kernel(Compiled compiled, std::shared_ptr<Executor> executor,
                                                     std::shared_ptr<const ExecutionLimits> limits = default_limits());

/// Runs a bound call: by its code, or by whoever interprets it.
Status run_bound(const Kernel::State& state, std::span<const TensorView> tensors, const Call& call, strew_fault* fault);

}  // namespace strew
