// BuildJob: a request that is being built, and those who wait for it. It is shared by the compile thread, the cache and the
// waiters, so it may outlive the runtime.
//
//   joinable ──finish(answer)──► answered     all who still wait get the answer
//      │  ▲                          ▲
//      │  └── join(): one more waits │
//      └─ go_on(): nobody waits ──► given up ──finish(why)
//
//   lost: the process was forked meanwhile; in the child nobody runs the job, and its waiters are told so.
//
// A job is joinable while it waits for a thread, runs, or is parked because another job builds the kernel that it needs (KernelCache::claim). Each
// waiter has an answer of its own before the job has one if it cancels or its deadline passes. Tested by tests/unit/runtime/async_test.cc and
// cache_test.cc.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "runtime/request.h"
#include "strew/pending_kernel.h"
#include "strew/text.h"

namespace strew::inline v0 {

struct RunningJob;  // runtime/cache.cc

class BuildJob {
 public:
  static std::shared_ptr<BuildJob> make(Request request);

  Request request;  ///< of the thread that runs the job, but for the op, which does not change
  /// The answer is a portable kernel, because the system refused memory for the other one: it is not remembered. Written and read by the
  /// thread that builds.
  bool lacked_memory = false;

  // Of the cache, and guarded by its mutex.
  Hash128 claimed;                    ///< the name of the kernel that the job builds, if it builds one
  std::weak_ptr<RunningJob> running;  ///< what will answer the job

  /// Adds one who waits, and returns the number for the functions below; nothing if the job has been given up, so that a new
  /// one must be made. Takes `done` only if it adds it.
  std::optional<size_t> join(PendingKernel::Callback& done, Deadline deadline);
  bool ready(size_t waiter) const;
  /// Until there is an answer, the waiter's deadline passes, or `until` does.
  Expected<Kernel> wait(size_t waiter, Deadline until);
  void cancel(size_t waiter);

  /// Ok as long as somebody waits; else the reason why the build is to stop. From then on nobody can join.
  Status go_on();
  /// Gives the answer to all who wait, and calls their callbacks.
  void finish(Expected<Kernel> answer) noexcept;
  /// Does nobody run this job, because it began in the process that forked this one?
  bool is_lost() const;

 private:
  struct Waiter {
    PendingKernel::Callback done;
    Deadline deadline;
    std::optional<Expected<Kernel>> own;  ///< an answer that differs from the job's: cancelled, too late
  };
  explicit BuildJob(Request given);
  bool is_answered(size_t waiter) const { return answer_ || waiters_[waiter].own; }
  void settle(Waiter& waiter, Status why, std::unique_lock<std::mutex>& lock);

  const uint64_t forks_;
  mutable std::mutex mutex_;  // guards all members below
  std::condition_variable changed_;
  std::deque<Waiter> waiters_;  ///< a number is an index; nobody is removed
  size_t waiting_ = 0;          ///< waiters without an answer
  bool is_given_up_ = false;
  std::optional<Expected<Kernel>> answer_;
};

/// The answer to a request for which there was no memory.
Status no_memory_for_kernel();
/// The number of a PendingKernel without a job whose answer that is.
inline constexpr size_t kNoMemoryForJob = ~size_t{0};

}  // namespace strew::inline v0
