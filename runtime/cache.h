// KernelCache: the kernels that a runtime remembers, and the builds in progress. A request that finds its kernel takes no
// lock (runtime/kernel_table.h). Of the requests that miss one kernel at the same time, one starts a build (single flight,
// runtime/build_job.h), which a compile thread runs; all of them get its answer, and a failure is not remembered. The cache
// has a capacity in bytes: beyond it, kernels that no handle refers to are forgotten, the least recently used first.
// Thread-safe. Tested by tests/unit/runtime/cache_test.cc and async_test.cc.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/build_job.h"
#include "runtime/compile_threads.h"
#include "runtime/kernel_table.h"
#include "strew/runtime.h"
#include "strew/status.h"
#include "strew/text.h"

namespace strew::inline v0 {

struct BuiltKernel;

class KernelCache {
 public:
  /// Builds the kernel of job.op. Between two stages it asks job.go_on(), and if that fails, returns its Status. Runs on a
  /// compile thread; exceptions become a Status.
  using Build = std::function<Expected<Kernel>(BuildJob& job)>;
  struct Settings {
    int compile_threads = 1;
    size_t stack_bytes = size_t{8} << 20;  ///< of a compile thread
    int background_nice = 0;               ///< of the threads of start()
    int64_t capacity = int64_t{256} << 20;
  };

  KernelCache(Build build, const Settings& settings);

  Kernel find(Hash128 key) const;
  const KernelTable& table() const { return table_; }
  /// `was_looked_for`: see BuildJob. May throw std::bad_alloc, and then nothing of the request is left.
  Expected<Kernel> get(const PreparedOp& op, Deadline deadline, bool was_looked_for);
  /// The compiled kernel: a stand-in is no answer.
  PendingKernel get_async(const PreparedOp& op, PendingKernel::Callback done, Deadline deadline) noexcept;
  /// Remembers a kernel that was made without a build. Returns the kernel of the key from now on: this one, or the one of a thread that was
  /// faster.
  Kernel add(Hash128 key, const Kernel& kernel);
  /// Begins a build for which nobody waits, and which nobody can cancel, or joins one that runs. `done` is called with the answer. May throw
  /// std::bad_alloc; `done` may have been called then.
  void start(const PreparedOp& op, PendingKernel::Callback done, bool was_looked_for) {
    join(op, done, kNoDeadline, was_looked_for, &background_);
  }
  /// Forgets the kernel of the key, if it is this one.
  void forget(Hash128 key, const Kernel::State* kernel);
  /// Ends the threads that compile (CompileThreads::drain); false if `until` passes first.
  bool drain(Deadline until);
  /// For work that looks for a kernel on the caller's thread: fork() waits for it.
  CompileThreads& threads() { return threads_; }
  void set_capacity(int64_t bytes);
  void clear();
  Runtime::Stats stats() const;

 private:
  struct HashOf {
    size_t operator()(Hash128 key) const { return key.low; }
  };
  struct Ticket {
    std::shared_ptr<BuildJob> job;
    size_t waiter;
  };

  struct Running;

  Ticket join(const PreparedOp& op, PendingKernel::Callback& done, Deadline deadline, bool was_looked_for,
              CompileThreads* on = nullptr);
  void run(Running& running);
  Expected<Kernel> build_now(BuildJob& job);
  void end(const BuildJob& job);
  Kernel find_compiled(Hash128 key) const;
  void remember(Hash128 key, const Kernel& kernel, std::vector<Kernel>& dropped);
  void discount(Kernel kernel, std::vector<Kernel>& dropped);
  void keep_capacity(std::vector<Kernel>& dropped);

  const Build build_;
  KernelTable table_;
  static std::mutex mutex_of_all;  ///< guards the members below in all caches, so that fork() has one mutex to lock
  friend struct CacheForks;
  std::unordered_map<Hash128, std::shared_ptr<BuildJob>, HashOf> jobs_;
  std::unordered_map<const BuiltKernel*, uint32_t> users_;  ///< requests in the table per built kernel
  int64_t capacity_, bytes_ = 0;
  int64_t next_check_ = 0;  ///< the value of bytes_ from which on keep_capacity() looks for kernels to forget
  std::atomic<uint64_t> misses_{0}, failed_{0}, cancelled_{0}, evicted_{0}, nanoseconds_{0};
  // The last members: their destructors wait for builds, which use the others.
  CompileThreads threads_;
  CompileThreads background_;  ///< for builds that nobody waits for
};

}  // namespace strew::inline v0
