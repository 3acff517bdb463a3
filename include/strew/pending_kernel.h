// PendingKernel: a kernel that is being built, from Runtime::get_async. It is a handle of one who waits: several requests for
// one op wait for one build, and the build is given up when all of them have been cancelled. Dropping the handle does not
// cancel: the build goes on and fills the cache. Member functions are thread-safe; ready() and cancel() never block. Tested
// by tests/unit/runtime/async_test.cc.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "strew/export.h"
#include "strew/kernel.h"
#include "strew/status.h"

namespace strew::inline v0 {

class BuildJob;

/// A point in time after which nobody wants a kernel any more.
using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline kNoDeadline = Deadline::max();

class PendingKernel {
 public:
  /// Is called once with the kernel, or with the reason why there is none: by a compile thread, or by the thread that calls
  /// get_async() or cancel(). It must not throw.
  using Callback = std::function<void(const Expected<Kernel>&)>;

  PendingKernel() = default;
  /// An answer that is there: a failure. `done` is called with it.
  PendingKernel(Status failure, const Callback& done) : failure_(std::move(failure)) {
    if (done) done(Expected<Kernel>(failure_));
  }

  /// Is there an answer, so that wait() returns at once?
  STREW_API bool ready() const;
  /// The kernel, or the reason why there is none: Code::cancelled after cancel(), Code::deadline_exceeded if the request's
  /// deadline has passed. `until` limits this wait only; if it passes, the answer is Code::deadline_exceeded, and the build
  /// goes on.
  STREW_API Expected<Kernel> wait(Deadline until = kNoDeadline) const;
  /// Gives the request up. Its answer is Code::cancelled unless there is one already. The build stops before its next stage
  /// (planning, generating code, linking) if nobody else waits for it.
  STREW_API void cancel();

 private:
  friend class KernelCache;
  PendingKernel(std::shared_ptr<BuildJob> job, size_t waiter) : job_(std::move(job)), waiter_(waiter) {}

  std::shared_ptr<BuildJob> job_;
  size_t waiter_ = 0;
  Status failure_;  ///< of a request that began no build
};

}  // namespace strew::inline v0
