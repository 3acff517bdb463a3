// Runtime: compiles ops to kernels and remembers what it compiled.
//
//   strew::Runtime& runtime = strew::Runtime::process();
//   auto kernel = runtime.get(op);         // compiled by the first request, found by later ones
//   strew::Status s = kernel->run(views);  // binds, checks, runs
//
// All member functions are thread-safe. A runtime owns its cache and the threads that compile; kernels may outlive the
// runtime, whose destructor waits for the builds that run. Runtimes share the process's threads for calls (executor.h)
// unless they are given others. docs/service.md follows a request through the parts. Tested by tests/unit/runtime/runtime_test.cc,
// tests/unit/backends/kernel_test.cc, tests/unit/runtime/async_test.cc and cache_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "strew/compiled_kernel.h"
#include "strew/executor.h"
#include "strew/export.h"
#include "strew/kernel.h"
#include "strew/kernel_options.h"
#include "strew/library.h"
#include "strew/op.h"
#include "strew/options.h"
#include "strew/pending_kernel.h"
#include "strew/prepared_op.h"
#include "strew/status.h"
#include "strew/target.h"

namespace strew::inline v0 {

struct ExecutionSettings;

/// A kernel that a runtime lends for as long as this object lives. Lending writes no memory that another thread writes, so
/// it costs the same however many threads ask; a Kernel, in contrast, counts its references. The object must stay on the
/// thread that made it, and must not live long: kernels that were evicted are freed when the loans that began before have
/// ended.
class LentKernel {
 public:
  STREW_API ~LentKernel();
  LentKernel(const LentKernel&) = delete;
  LentKernel& operator=(const LentKernel&) = delete;

  explicit operator bool() const { return kernel_ != nullptr; }
  const Kernel& operator*() const { return *kernel_; }
  const Kernel* operator->() const { return kernel_; }

 private:
  friend class Runtime;
  LentKernel(void* record, const Kernel* kernel) : record_(record), kernel_(kernel) {}
  void* record_;
  const Kernel* kernel_;
};

class Runtime {
 public:
  /// Its calls run on `executor`; null stands for process_executor().
  explicit Runtime(std::shared_ptr<Executor> executor = nullptr) : Runtime(process_options(), std::move(executor)) {}
  /// The same with the settings of `options` that are not the process's own: capacity, compile threads and their stacks, the
  /// most threads of a call, the target. If check(options) fails, that is a warning in the log, and all of
  /// them have their defaults.
  STREW_API explicit Runtime(const Options& options, std::shared_ptr<Executor> executor = nullptr);
  /// The same with the limits from which on calls use threads (runtime/call/executor/limits.h): for strew's own tests.
  explicit Runtime(const ExecutionSettings& settings);
  STREW_API ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// The runtime of the process, which is never destroyed.
  STREW_API static Runtime& process();

  /// The kernel of the op: verifies, plans, compiles and links the op, or finds the kernel in the cache. Threads that
  /// ask for one kernel at the same time wait for one build. Spellings of one op, and handles with different numbers of
  /// threads, share the code (docs/architecture.md, "Identity"). Fails if the op does not verify, the options are
  /// wrong, or no backend can build the op; failures are not remembered. If `deadline` passes before there is a kernel,
  /// the answer is Code::deadline_exceeded.
  /// Two things keep a request from waiting (docs/service.md): with CompileMode::background it is answered with a portable kernel, whose place
  /// the compiled one takes; and requests that differ only in extents, of which there were more than Options::exact_shapes, share a kernel that
  /// takes the extents from each call.
  STREW_API Expected<Kernel> get(const Op& op, const KernelOptions& options = {}, Deadline deadline = kNoDeadline);
  STREW_API Expected<Kernel> get(const PreparedOp& op, Deadline deadline = kNoDeadline);
  /// The same for what a builder, or PreparedOp::of, returns. A failure is passed on.
  template <OpKind T>
  Expected<Kernel> get(const Expected<T>& op, const KernelOptions& options = {}, Deadline deadline = kNoDeadline) {
    if (!op.ok()) return op.status();
    return get(*op, options, deadline);
  }
  Expected<Kernel> get(const Expected<PreparedOp>& op, Deadline deadline = kNoDeadline) {
    if (!op.ok()) return op.status();
    return get(*op, deadline);
  }
  /// Asks for the compiled kernel, whatever the compile mode is, and returns at once. `done`, if given, is called once with the answer; a kernel that is in the
  /// cache answers before get_async() returns. A build that everybody has given up, or that is later than the
  /// deadlines of all who wait, is stopped before its next stage.
  STREW_API PendingKernel get_async(const PreparedOp& op, PendingKernel::Callback done = {}, Deadline deadline = kNoDeadline);
  /// The same for what PreparedOp::of returns. A failure is the answer.
  PendingKernel get_async(const Expected<PreparedOp>& op, PendingKernel::Callback done = {}, Deadline deadline = kNoDeadline) {
    return op.ok() ? get_async(*op, std::move(done), deadline) : PendingKernel(op.status(), done);
  }

  /// Loads kernels that were compiled before: `path` is an object that `strew compile --emit obj` wrote, or an archive (.a) of
  /// such objects. Returns them in the order of their symbols; descriptor() says what each is for. From now on, requests
  /// for their ops are answered with them: those that name neither backend, schedule nor target, and those whose choice of
  /// these led to the kernel's symbol. Of several kernels of one op, the one that uses the most CPU features is taken. The kernels
  /// stay loaded until the runtime and all handles are gone.
  /// Fails, and loads nothing, if the file is no such file, or if one of its kernels belongs to another version of the binary interface.
  /// Kernels whose CPU features this machine lacks are left out; it fails if all of them are.
  /// The code in the file is run: load what you trust (docs/security.md).
  STREW_API Expected<std::vector<CompiledKernel>> load(const std::string& path);
  /// The same from memory, which is not needed after the call.
  STREW_API Expected<std::vector<CompiledKernel>> load(std::span<const std::byte> file);

  /// From now on, answers requests with the kernels of a library that is linked into the program, as with loaded ones. The library must
  /// outlive the runtime and its kernels. Fails if it belongs to another version of strew. Kernels that this machine cannot run are left
  /// out.
  STREW_API Status register_library(const strew_library& library);

  /// The kernel that get() returned for the request with this key; an empty handle if there is none. Takes tens of
  /// nanoseconds and no lock, also while other threads compile.
  Kernel find(const KernelKey& key) const {
    const LentKernel lent = lend(key);
    return lent ? *lent : Kernel();
  }
  /// The same without a reference of its own.
  STREW_API LentKernel lend(const KernelKey& key) const;

  /// Counts since the runtime was made, and what it holds now.
  struct Stats {
    uint64_t hits = 0;               ///< requests that found their kernel
    uint64_t misses = 0;             ///< requests that did not: they waited for a build, or for the kernel of another request
    uint64_t built = 0;              ///< kernels
    uint64_t failed = 0;             ///< builds that ended with an error
    uint64_t cancelled = 0;          ///< builds that everybody gave up
    uint64_t evicted = 0;            ///< requests whose kernel was dropped to keep the capacity
    uint64_t stand_ins = 0;          ///< requests that were answered with a portable kernel while the compiled one was built
    uint64_t generalised = 0;        ///< requests for one shape that got a kernel for many shapes
    uint64_t build_nanoseconds = 0;  ///< sum of the times of all builds
    uint64_t kernels = 0;            ///< requests that are remembered
    int64_t bytes = 0;               ///< memory of their kernels: code, constants and descriptions
    // The disk cache (Options::cache_dir).
    uint64_t disk_hits = 0;       ///< kernels that came from a file instead of a build
    uint64_t disk_misses = 0;     ///< kernels that were looked for and had no file
    uint64_t disk_rejected = 0;   ///< files that were not used: damaged, foreign, or where others can write
    uint64_t disk_published = 0;  ///< files that were written
    uint64_t disk_errors = 0;     ///< reads, writes and removals that the system refused
    // What kernels learn from their calls (Options::learn); estimates from the calls that were timed.
    uint64_t learn_trials = 0;              ///< blocks of calls that were run another way than the one in use
    uint64_t learn_changes = 0;             ///< ways that took the place of the one in use
    uint64_t learn_nanoseconds = 0;         ///< of all calls that could have been run in several ways
    uint64_t learn_regret_nanoseconds = 0;  ///< that trials took longer than the way in use
  };
  STREW_API Stats stats() const;
  /// How many bytes of kernels the runtime remembers. Beyond that it forgets those that were not asked for since the
  /// longest time, as long as no handle refers to them: forgetting these would free nothing. 0: it remembers none.
  STREW_API void set_capacity(int64_t bytes);
  /// Empties the cache. Kernels that handles refer to stay.
  STREW_API void clear();

  /// What requests that name no target compile for.
  const Target& target() const;

  /// Ends the threads that compile, so that the process may fork, exit, or unload the code of callbacks. Builds that have not begun are
  /// given up with Code::cancelled; those that run come to their end; then the threads are joined. From then on the runtime starts none:
  /// a request that needs a build still works, but builds on the thread that asks, also with CompileMode::background and get_async().
  /// A forked child goes on that way. If `until` passes before the builds have ended, the answer is Code::deadline_exceeded, and
  /// drain() may be called again. From a callback of a build it does not wait for that build. The threads of calls belong to the executor
  /// (executor.h), and stay.
  STREW_API Status drain(Deadline until = kNoDeadline);

 private:
  friend class Site;
  struct Impl;
  Runtime(const ExecutionSettings& settings, const Options& options);
  std::unique_ptr<Impl> impl_;
};

}  // namespace strew::inline v0
