// CompileThreads: the threads on which a runtime compiles. Their number limits how many kernels are compiled at a time, and
// their stacks have a known size, since code generators recurse deeply while callers may run on small stacks. A thread
// starts when there is a job for it and ends when it was idle for a second, so a program that has stopped compiling has
// no such thread. If the system refuses to start a thread, the caller compiles.
//
// fork(): a fork waits until the jobs that run have finished, at most kForkPatience, so that the child does not inherit
// locks of a code generator that nobody will release. Meanwhile no thread takes another job. The child starts threads of its own; jobs that
// had not begun belong to the parent. After a fork that could not wait, works_after_fork() is false in the child, and jobs are refused.
//
// exit() waits for the jobs that run, so that none meets destroyed static objects; from then on, jobs are dropped and Here is refused. A thread
// that calls exit() or fork() from inside a job, or a Here, does not wait for itself. One case is left: an exit() that is not called by the process's
// first thread, or by a first thread that neither loaded the library nor asked for a kernel, while libLLVM is opened and first used.
// Tested by tests/unit/runtime/compile_threads_test.cc and exit_test.cc.
#pragma once

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

namespace strew::inline v0 {

class CompileThreads {
 public:
  using Job = std::function<void()>;
  static constexpr std::chrono::seconds kLinger{1};         ///< how long an idle thread waits for another job
  static constexpr std::chrono::seconds kForkPatience{20};  ///< how long a fork waits for the jobs that run

  /// At most `most` threads, 1 or more, each with a stack of `stack_bytes` and, if `nice` is not 0, at that nice value (Linux: of a thread), or at the
  /// process's if that is higher.
  CompileThreads(int most, size_t stack_bytes, int nice = 0);
  /// Drops the jobs that have not begun and waits for those that run.
  ~CompileThreads();
  CompileThreads(const CompileThreads&) = delete;
  CompileThreads& operator=(const CompileThreads&) = delete;

  /// Runs the job on a thread, after the jobs submitted earlier. If no thread can be started, and on one of these threads
  /// (whose job may wait for the new one), the job runs here, before run() returns. A job must not throw.
  void run(Job job);

  /// Drops the jobs that have not begun, waits for those that run, and joins the threads. From then on jobs run on the thread that calls run(). Returns
  /// false if `until` passes first: then jobs still run, and it may be called again. On a thread that runs a job of this pool, that job is not waited for.
  bool drain(std::chrono::steady_clock::time_point until);

  /// What this thread does for a pool: a job, or a Here. They nest, also across pools.
  struct Frame {
    const CompileThreads* pool;
    bool is_job;
    const Frame* outer;
  };

  /// Marks work of a caller's own thread that takes locks which a child of fork() must not find locked: a fork waits for it, as for a job,
  /// and so does exit(). The work must be short, and must not wait for jobs. It is false after exit() has begun: then the work must
  /// not be done.
  class Here {
   public:
    explicit Here(CompileThreads& pool, bool is_job = false);
    ~Here();
    Here(const Here&) = delete;
    Here& operator=(const Here&) = delete;
    explicit operator bool() const { return began_; }

   private:
    CompileThreads& pool_;
    const Frame frame_;
    bool began_ = false;
  };

  /// False in a child of a fork that happened while a job was running.
  static bool works_after_fork();
  /// The number of forks between the first process that compiled and this one. A job submitted at another number is one
  /// that nobody runs.
  static uint64_t forks();

 private:
  friend struct CompileForks;
  static constexpr auto kNoDeadline = std::chrono::steady_clock::time_point::max();

  bool start_thread();
  void join_finished();
  void work();
  bool end_jobs(bool& flag, int own, std::chrono::steady_clock::time_point until = kNoDeadline);
  /// Waits until is_done(); false if `until` passes first. The caller holds the lock.
  template <class IsDone>
  bool watch(std::unique_lock<std::mutex>& lock, std::chrono::steady_clock::time_point until, const IsDone& is_done) {
    ++watchers_;
    const bool in_time = until == kNoDeadline ? (changed_.wait(lock, is_done), true) : changed_.wait_until(lock, until, is_done);
    --watchers_;
    return in_time;
  }
  void wait_for_fork(std::unique_lock<std::mutex>& lock);
  void run_here(const Job& job);

  const int most_;
  const size_t stack_bytes_;
  const int nice_;
  std::mutex mutex_;  // guards all members below
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  int threads_ = 0;   ///< that exist
  int idle_ = 0;      ///< of them: waiting for a job
  int running_ = 0;   ///< jobs that run, on these threads or on a caller's
  int watchers_ = 0;  ///< threads that wait until nothing runs, or until a fork is over
  bool stops_ = false;
  bool is_drained_ = false;          ///< no thread starts any more
  std::vector<pthread_t> finished_;  ///< threads that have ended and are to be joined
  // Guarded by the mutex of the process's list (CompileForks).
  int pins_ = 0;  ///< threads that wait for this pool without that mutex: it must stay in the list
};

}  // namespace strew::inline v0
