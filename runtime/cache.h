// KernelCache: the kernels that a runtime remembers, and the builds in progress. A request that finds its kernel takes no
// lock (runtime/kernel_table.h). Of the requests that miss one kernel at the same time, one starts a build (single flight,
// runtime/build_job.h), which a compile thread runs; all of them get its answer, and a failure is not remembered. Requests that differ in spelling
// or in the number of threads need one built kernel: the first builds it, and the jobs of the others are parked until that has ended. The cache
// has a capacity in bytes: beyond it, kernels that no handle refers to are forgotten, the least recently used first.
// Thread-safe. Tested by tests/unit/runtime/cache_test.cc and async_test.cc.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>

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
  using Built = std::shared_ptr<const BuiltKernel>;
  /// Builds the kernel of job.request. Between two stages it asks job.go_on(), and if that fails, returns its Status. An empty handle: the job is
  /// parked (claim()), and may be running elsewhere already. Runs on a compile thread; exceptions become a Status.
  using Build = std::function<Expected<Kernel>(BuildJob& job)>;
  struct Settings {
    int compile_threads = 1;
    size_t stack_bytes = size_t{8} << 20;  ///< of a compile thread
    int background_nice = 0;               ///< of the threads of start()
    int64_t capacity = int64_t{256} << 20;
  };

  KernelCache(Build build, const Settings& settings);

  // ---- Handles, by the keys of requests ----

  Kernel find(Hash128 key) const;
  const KernelTable& table() const { return table_; }
  /// May throw std::bad_alloc, and then nothing of the request is left.
  Expected<Kernel> get(Request request);
  /// The compiled kernel: a stand-in is no answer.
  PendingKernel get_async(const Request& request, PendingKernel::Callback done) noexcept;
  /// Remembers a kernel that was made without a build. Returns the kernel of the key from now on: this one, or the one of a thread that was
  /// faster.
  Kernel add(Hash128 key, const Kernel& kernel);
  /// Counts a request that was refused without a build.
  void note_refused(const PreparedOp& op, const Status& why);
  /// Begins a build for which nobody waits, and which nobody can cancel, or joins one that runs. `done` is called with the answer. May throw
  /// std::bad_alloc; `done` may have been called then.
  void start(Request request, PendingKernel::Callback done);
  /// Forgets the kernel of the key, if it is this one.
  void forget(Hash128 key, const Kernel::State* kernel);

  // ---- Built kernels, by their names: the hash of a symbol, or the key of an op with open extents ----

  /// Null if there is none, or if it is being built.
  Built find_built(Hash128 name) const;
  /// From now on that kernel has this name. Returns it, or the one of a thread that was faster.
  Built share(Hash128 name, Built kernel);
  struct Claim {
    Built kernel;  ///< it is there
    /// The job builds it. Neither: it is parked until the job that builds the kernel has ended, and then runs again.
    bool is_mine = false;
  };
  /// A job has one claim at a time, so jobs that are parked have none, and no two can wait for each other.
  Claim claim(Hash128 name, BuildJob& job);

  /// Ends the threads that compile (CompileThreads::drain); false if `until` passes first.
  bool drain(Deadline until);
  /// For work that looks for a kernel on the caller's thread: fork() waits for it.
  CompileThreads& threads() { return threads_; }
  void set_capacity(int64_t bytes);
  /// From now on requests build anew, also if handles refer to the kernels.
  void clear();
  Runtime::Stats stats() const;
  size_t slots() const;  ///< names that are remembered

 private:
  friend struct RunningJob;
  /// What is known under a name: the key of a request, or that of a built kernel. It owns no kernel: that lives as long as a handle or the table
  /// refers to it.
  struct Slot {
    std::weak_ptr<const BuiltKernel> kernel;
    std::shared_ptr<BuildJob> job;  ///< that answers the request, or builds the kernel; others join it
  };

  static PendingKernel answered(Request request, PendingKernel::Callback& done, Kernel known);
  PendingKernel join(Request request, PendingKernel::Callback& done, CompileThreads& on, bool takes_stand_in);
  Slot& slot_of(Hash128 name);
  void release(Hash128 name, const BuildJob& job);
  void count_failure(const Status& status);
  struct Change;
  void remember(Hash128 key, const Kernel& kernel, Change& change);
  void discount(Kernel kernel, Change& change);
  void keep_capacity(Change& change);
  void sweep();

  const Build build_;
  KernelTable table_;
  static std::mutex mutex_of_all;  ///< guards the members below in all caches, so that fork() has one mutex to lock
  std::unordered_map<Hash128, Slot, HashOfKey> slots_;
  static constexpr size_t kFirstSweep = 64;
  size_t next_sweep_ = kFirstSweep;  ///< the number of slots from which on those that are not used are looked for
  std::unordered_map<const BuiltKernel*, uint32_t> users_;  ///< requests in the table per built kernel
  int64_t capacity_, bytes_ = 0;
  int64_t next_check_ = 0;  ///< the value of bytes_ from which on keep_capacity() looks for kernels to forget
  std::atomic<uint64_t> misses_{0}, failed_{0}, cancelled_{0}, evicted_{0}, nanoseconds_{0};
  // The last members: their destructors wait for builds, which use the others.
  CompileThreads threads_;
  CompileThreads background_;  ///< for builds that nobody waits for
};

}  // namespace strew::inline v0
