// BuiltKernel: what the pipeline made of an op, linked. Kernel::State: what a handle points to: a built kernel, the op as the handle's user
// spelled it, and how many threads its calls use. Both are immutable once made, but for the counter of calls.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "backends/link.h"
#include "backends/pipeline.h"
#include "runtime/call/callable.h"
#include "strew/kernel.h"

namespace strew::inline v0 {

struct BuiltKernel {
  explicit BuiltKernel(Compiled made) : compiled(std::move(made)) {}

  Compiled compiled;
  std::shared_ptr<LinkedObject> object;  ///< null when interpreted
  std::shared_ptr<const strew_kernel> descriptor;
  int64_t compile_nanoseconds = 0;
};

struct Kernel::State {
  explicit State(VerifiedOp given) : op(std::move(given)), op_text(print(*op)) {}

  std::unique_ptr<const Callable> callable;
  bool is_plain = false;  ///< there is code, and calls are neither replayed nor checked for hints: the callable does it all

  bool checks_hints = false;  ///< schedule knob `checked`, and there are hints
  uint64_t verify_every = 0;
  std::shared_ptr<const BuiltKernel> built;
  VerifiedOp op;
  std::string op_text;
  mutable std::atomic<uint64_t> calls{0};
};

/// Links the artifact, if there is code.
Expected<std::shared_ptr<BuiltKernel>> link_kernel(Compiled compiled);
/// A handle's state: prepares binding. `op`: of the kernel's identity, as the handle's user gave it. `threads`: the most that a call may use,
/// 0: all of the executor's. Neither `executor` nor `limits` may be null.
Expected<std::shared_ptr<Kernel::State>> make_state(std::shared_ptr<const BuiltKernel> built, VerifiedOp op, int threads,
                                                    std::shared_ptr<Executor> executor,
                                                    std::shared_ptr<const ExecutionLimits> limits = default_limits());
/// Both, for a kernel that nobody shares.
Expected<std::shared_ptr<Kernel::State>> make_kernel(Compiled compiled, std::shared_ptr<Executor> executor,
                                                     std::shared_ptr<const ExecutionLimits> limits = default_limits());

/// Runs a bound call: by its code, or by whoever interprets it.
Status run_bound(const Kernel::State& state, std::span<const TensorView> tensors, const Call& call, strew_fault* fault);

}  // namespace strew::inline v0
