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

#include "backends/pipeline.h"
#include "runtime/shape_families.h"
#include "strew/compile_mode.h"
#include "strew/pending_kernel.h"

namespace strew::inline v0 {

struct RunningJob;  // runtime/cache.cc
class BuildJob;
struct BuiltKernel;

/// One that asks for a kernel which the table of kernels does not have, on its way from tier to tier (runtime/runtime.cc). It begins on the thread that
/// asks. If that thread may have to wait, a BuildJob takes the request over, and a compile thread goes on with it where the first thread
/// stopped: what was found out so far, the plan above all, stays in it.
struct Request {
  Request(PreparedOp asked, CompileMode how = CompileMode::blocking, Deadline until = kNoDeadline)
      : op(std::move(asked)), mode(how), deadline(until) {}

  PreparedOp op;
  CompileMode mode;
  Deadline deadline;                ///< of the thread that asks
  size_t tier = 0;                  ///< the next one to ask; those before it have no answer
  std::optional<Compiled> plan;     ///< once it is made; the kernel takes it away
  bool has_looked_on_disk = false;  ///< into the disk cache, and the kernel is not there
  /// The op with open extents whose kernel serves this request, or null; absent: ShapeFamilies was not asked yet.
  std::optional<std::shared_ptr<ShapeFamilies::General>> family;
  BuildJob* job = nullptr;  ///< that has taken it over; null: it is on the thread that asks
};

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

// What the log says of builds. Tested by tests/unit/base/log_test.cc.

/// At level compile: what was built, and of an interpreted kernel why it is interpreted.
void log_built(const BuiltKernel& kernel);
/// A build that failed or was given up: at level compile, or at level error if it is an internal error, which is a bug in strew.
void log_not_built(const PreparedOp& op, const Status& status);

/// The answer to a request for which there was no memory.
Status no_memory_for_kernel();
/// The number of a PendingKernel without a job whose answer that is.
inline constexpr size_t kNoMemoryForJob = ~size_t{0};

}  // namespace strew::inline v0
