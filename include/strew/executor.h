// Executor: runs the parts of large calls on several threads. A program can let kernels use its own thread pool by
// implementing this interface, or use the pool of strew: process_executor() or make_executor().
//
//   class HostPool final : public strew::Executor {
//    public:
//     int threads() const noexcept override { return pool_.size() + 1; }  // with the calling thread
//     void parallel_for(int count, Task task, void* context) override {
//       pool_.parallel_for(0, count, [=](int i) { task(context, i); });
//     }
//     ...
//   };
//
// The calling thread always takes part in the work, small calls run on it alone, and no task waits for another one, so any
// number of threads, also none, is enough (an answer below 1 counts as 1). docs/service.md, "Threads", says what an implementation must keep to, and what
// happens if it does not. Tested by tests/unit/runtime/call/executor/executor_test.cc and
// tests/unit/runtime/call/executor/host_executor_test.cc.
#pragma once

#include <cstdint>
#include <memory>

#include "strew/export.h"
#include "strew/status.h"

namespace strew::inline v0 {

class ThreadPool;

class Executor {
 public:
  using Task = void (*)(void* context, int index) noexcept;

  virtual ~Executor() = default;
  /// The most threads that work at a time, the calling thread included: work is cut for this many. 1: the calling thread alone.
  virtual int threads() const noexcept = 0;
  /// Calls task(context, i) once for each i in [0, count), on any threads, at the same time or one after another, and returns
  /// when all calls have returned. Several threads may call it at the same time, also from inside a task.
  virtual void parallel_for(int count, Task task, void* context) = 0;
  /// What a parallel_for() costs in nanoseconds, beside the tasks: until another thread has begun, and until the caller knows that all have ended. Work
  /// that would gain less by several threads runs on the caller's alone. 0: not known; kernels then count with the costs of strew's own pool.
  /// A pool whose threads wait for work needs some microseconds; one that starts a thread per task, 50,000 and more.
  virtual int64_t dispatch_ns() const noexcept { return 0; }

 private:
  friend class Team;
  /// The pool of strew itself, which lends its threads for several loops.
  virtual ThreadPool* thread_pool() noexcept { return nullptr; }
};

/// A thread pool of at most `threads` threads, the calling thread included: 1..1024, or 0 for as many as this process may use
/// cores. `pins`: each worker is pinned to a core of its own. Its workers start when a call first needs them, wait for a
/// millisecond after a call for the next one, and then sleep. Fails if `threads` is out of range. The workers end with the
/// last reference.
STREW_API Expected<std::shared_ptr<Executor>> make_executor(int threads = 0, bool pins = false);

/// The thread pool of kernels that were given no executor: as many threads as this process may use cores, unless STREW_THREADS
/// and STREW_PIN say otherwise (options.h). Never null.
STREW_API const std::shared_ptr<Executor>& process_executor();

}  // namespace strew::inline v0
