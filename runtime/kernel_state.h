// BuiltKernel: the pipeline's result for an op, linked into this process. Kernel::State: what a handle points to, which
// is a built kernel, the op as it was given to Runtime::get, and the number of threads of its calls. Both are immutable
// once made, except for the counter of calls.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "backends/link.h"
#include "backends/pipeline.h"
#include "runtime/call/callable.h"
#include "strew/kernel.h"
#include "strew/prepared_op.h"

namespace strew::inline v0 {

struct BuiltKernel {
  explicit BuiltKernel(Compiled made) : compiled(std::move(made)) {}

  Compiled compiled;
  std::shared_ptr<const LinkedObject> object;  ///< null if the kernel is interpreted
  std::shared_ptr<const strew_kernel> descriptor;
  bool is_loaded = false;  ///< from an object (Runtime::load) or a file (the disk cache) instead of built here
  int64_t compile_nanoseconds = 0;
  int64_t bytes = 0;  ///< memory that it takes: code and constants, and roughly what describes them
};

struct Kernel::State {
  explicit State(PreparedOp given) : prepared(std::move(given)) {}

  std::unique_ptr<const Callable> callable;
  bool is_plain = false;  ///< the callable alone runs a call: there is code, calls are not replayed, and hints are not checked

  bool checks_hints = false;  ///< the schedule has `checked`, and the op has hints
  bool records = false;       ///< calls are recorded (runtime/record)
  uint64_t verify_every = 0;  ///< replay every n-th call on the reference (runtime/replay.h); 0: none
  std::shared_ptr<const BuiltKernel> built;
  PreparedOp prepared;
  mutable std::atomic<uint64_t> calls{0};

  const VerifiedOp& op() const { return prepared.op(); }
  int64_t bytes() const;  ///< memory that it takes besides the built kernel, roughly
};

/// The memory that a built kernel takes besides its code.
int64_t size_without_code(const BuiltKernel& kernel);
/// Links the artifact, if it is code; fails if this machine cannot run it.
Expected<std::shared_ptr<BuiltKernel>> link_kernel(Compiled compiled);
/// The same for an object that is linked already.
std::shared_ptr<BuiltKernel> adopt_object(Compiled compiled, std::shared_ptr<const LinkedObject> object);
/// The state of a handle. `op`: as it was given to Runtime::get; it has the kernel's identity. `threads`: the most
/// threads that a call may use; 0: all of the executor's. `executor` and `limits` must not be null.
Expected<std::shared_ptr<Kernel::State>> make_state(std::shared_ptr<const BuiltKernel> built, PreparedOp op, int threads,
                                                    std::shared_ptr<Executor> executor,
                                                    std::shared_ptr<const ExecutionLimits> limits = default_limits());
/// link_kernel() and make_state(), for a kernel that no other handle shares.
Expected<std::shared_ptr<Kernel::State>> make_kernel(Compiled compiled, std::shared_ptr<Executor> executor,
                                                     std::shared_ptr<const ExecutionLimits> limits = default_limits());

/// Runs a bound call: by its code, or, of an interpreted kernel, by its interpreter.
Status run_bound(const Kernel::State& state, std::span<const TensorView> tensors, const Call& call, strew_fault* fault);

}  // namespace strew::inline v0
