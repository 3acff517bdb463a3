// BuiltKernel: the pipeline's result for an op, linked into this process. Kernel::State: what a handle points to, which
// is a built kernel, the op as it was given to Runtime::get, and the number of threads of its calls. Both are immutable
// once made, except for the counter of calls, and for a stand-in's successor.
//
// A stand-in is a portable kernel that answers a request while the compiled one is built (CompileMode::background). When that one is ready,
// it becomes the stand-in's successor: one store, after which every call of every handle goes there. A call that has begun ends where it
// began, and the stand-in lives as long as its handles. Tested by tests/unit/runtime/tiers_test.cc.
#pragma once

#include <atomic>
#include <memory>

#include "backends/link.h"
#include "backends/pipeline.h"
#include "runtime/call/callable.h"
#include "strew/kernel.h"
#include "strew/prepared_op.h"

namespace strew::inline v0 {

struct BuiltKernel {
  explicit BuiltKernel(Compiled made) : compiled(std::move(made)) {}

  Compiled compiled;
  std::shared_ptr<const LinkedObject> object;  ///< null if the kernel has no generated code
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
  uint64_t verify_every = 0;  ///< replay every n-th call on the reference (run_and_replay); 0: none
  std::shared_ptr<const BuiltKernel> built;
  PreparedOp prepared;
  mutable std::atomic<uint64_t> calls{0};

  std::shared_ptr<const strew_kernel> descriptor;  ///< of the callable: the built kernel's, or one for this op's extents alone

  bool is_stand_in = false;  ///< it answers until another one takes its place
  mutable std::atomic<const State*> successor{nullptr};

  const VerifiedOp& op() const { return prepared.op(); }
  int64_t bytes() const;  ///< memory that it takes besides the built kernel, roughly
  /// The state that calls use: the successor's, if there is one.
  const State& current() const {
    const State* const next = is_stand_in ? successor.load(std::memory_order_acquire) : nullptr;
    return next == nullptr ? *this : *next;
  }
  /// The callable, if it alone runs the calls of a handle from the first to the last; else null.
  const Callable* plain() const { return is_plain && !is_stand_in ? callable.get() : nullptr; }
  /// Called once, by the thread that has built the successor.
  void replace(std::shared_ptr<const State> with) const {
    owner_ = std::move(with);
    successor.store(owner_.get(), std::memory_order_release);
  }
  /// A handle on the successor; empty if there is none.
  Kernel replaced_by() const { return successor.load(std::memory_order_acquire) == nullptr ? Kernel() : Kernel(owner_); }

 private:
  mutable std::shared_ptr<const State> owner_;  ///< of the successor; written once, before `successor` is
};

// What remembered kernels take of memory, as the capacity of a runtime's cache counts it: the blocks that they have on the heap, each with what the
// heap adds. Tested by tests/unit/runtime/memory_of_test.cc.

/// What one block of so many bytes takes; none: 0.
constexpr int64_t block_bytes(size_t bytes) {
  constexpr size_t kHeader = 8, kUnit = 16, kLeast = 32;  // glibc's on 64-bit machines
  if (bytes == 0) return 0;
  const size_t rounded = (bytes + kHeader + kUnit - 1) / kUnit * kUnit;
  return static_cast<int64_t>(rounded < kLeast ? kLeast : rounded);
}
/// A shared object with its counts.
template <class T>
constexpr int64_t shared_bytes() {
  constexpr size_t kCounts = 16;
  return block_bytes(sizeof(T) + kCounts);
}

/// The blocks behind an op: its lists and its expression.
int64_t memory_of(const Op& op);
/// The blocks behind options: those of a target.
int64_t memory_of(const KernelOptions& options);
/// The memory that a built kernel takes besides its code.
int64_t size_without_code(const BuiltKernel& kernel);
/// Links the artifact, if it is code; fails if this machine cannot run it, and then `compiled` is as it was.
Expected<std::shared_ptr<BuiltKernel>> link_kernel(Compiled&& compiled);
/// The same for an object that is linked already.
std::shared_ptr<BuiltKernel> adopt_object(Compiled compiled, std::shared_ptr<const LinkedObject> object);
/// The state of a handle. `op`: as it was given to Runtime::get; it has the kernel's identity. `threads`: the most
/// threads that a call may use; 0: all of the executor's. `executor` and `limits` must not be null.
/// A built kernel with open extents may serve an op whose extents are known; calls are then held to the op's.
Expected<std::shared_ptr<Kernel::State>> make_state(std::shared_ptr<const BuiltKernel> built, PreparedOp op, int threads,
                                                    std::shared_ptr<Executor> executor,
                                                    std::shared_ptr<const ExecutionLimits> limits = default_limits());

/// The most threads that a call may use.
inline int most_threads(const Compiled& kernel) { return kernel.threads != 0 ? kernel.threads : kernel.target.cores; }

/// The most scratch, in bytes, that a call needs, known before there is a call; kDynamic if they depend on open extents. `scatter`: the kernel's op.
int64_t scratch_bytes(const Scatter& scatter, const Compiled& kernel);

/// Runs a bound call: by its code, or, of an interpreted kernel, by its interpreter.
Status run_bound(const Kernel::State& state, std::span<const TensorView> tensors, const Call& call, BadIndex* bad_index);
/// Under STREW_VERIFY: the same, repeated on the reference, to find bugs of the code generators (kernel.cc). Fails with Code::internal and the op's
/// text if the reference returns another status or other result bits.
Status run_and_replay(const Kernel::State& state, std::span<const TensorView> tensors, const Call& call, BadIndex* bad_index);

}  // namespace strew::inline v0
