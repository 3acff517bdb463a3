// See build_job.h. Callbacks are called without the lock, so that they may ask the runtime for kernels.
#include "runtime/build_job.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "base/log.h"
#include "runtime/compile_threads.h"
#include "runtime/kernel_state.h"

namespace strew::inline v0 {
namespace {

Status too_late() {
  return deadline_exceeded("kernel: the deadline passed before it was built; ask again later, or with a later deadline");
}
Status given_up() { return cancelled("kernel: the request was cancelled; ask again if the kernel is still wanted"); }
Status lost() {
  return cancelled("kernel: it was being built when this process was forked, so the parent process builds it; ask again");
}

/// Why a kernel is interpreted: what the backends that make code answered. Empty: one of them could have built it, but the
/// request named an interpreter.
std::string why_interpreted(const Compiled& kernel) {
  std::string why;
  for (const Candidate& each : kernel.backends) {
    if (each.backend->interprets()) continue;
    if (each.status.ok()) return "";
    why += (why.empty() ? "" : "; ") + each.status.message();
  }
  return why;
}

}  // namespace

BuildJob::BuildJob(Request given) : request(std::move(given)), forks_(CompileThreads::forks()) { request.job = this; }

std::shared_ptr<BuildJob> BuildJob::make(Request request) {
  // A lost job is never destroyed: threads that this process does not have may be waiting on its condition variable.
  return {new BuildJob(std::move(request)), [](const BuildJob* job) {
            if (!job->is_lost()) delete job;
          }};
}

bool BuildJob::is_lost() const { return forks_ != CompileThreads::forks(); }

std::optional<size_t> BuildJob::join(PendingKernel::Callback& done, Deadline deadline) {
  const std::lock_guard lock(mutex_);
  if (is_given_up_) return std::nullopt;
  waiters_.push_back({nullptr, deadline, std::nullopt});
  waiters_.back().done = std::exchange(done, nullptr);
  ++waiting_;
  return waiters_.size() - 1;
}

bool BuildJob::ready(size_t waiter) const {
  if (is_lost()) return true;
  const std::lock_guard lock(mutex_);
  return is_answered(waiter);
}

Expected<Kernel> BuildJob::wait(size_t waiter, Deadline until) {
  if (is_lost()) return lost();
  std::unique_lock lock(mutex_);
  const auto answered = [&] { return is_answered(waiter); };
  const Deadline own = waiters_[waiter].deadline, first = std::min(own, until);
  if (first == kNoDeadline)
    changed_.wait(lock, answered);
  else
    changed_.wait_until(lock, first, answered);
  if (!answered() && own <= until) settle(waiters_[waiter], too_late(), lock);
  if (!answered()) return too_late();
  return waiters_[waiter].own ? *waiters_[waiter].own : *answer_;
}

void BuildJob::cancel(size_t waiter) {
  if (is_lost()) return;
  std::unique_lock lock(mutex_);
  if (!is_answered(waiter)) settle(waiters_[waiter], given_up(), lock);
}

/// Answers one waiter with a failure of its own. Releases the lock while the callback runs.
void BuildJob::settle(Waiter& waiter, Status why, std::unique_lock<std::mutex>& lock) {
  const Expected<Kernel> answer = why;  // may throw, so nothing has changed yet
  waiter.own.emplace(std::move(why));
  --waiting_;
  const PendingKernel::Callback done = std::exchange(waiter.done, nullptr);
  changed_.notify_all();
  if (!done) return;
  lock.unlock();
  done(answer);
  lock.lock();
}

Status BuildJob::go_on() {
  std::unique_lock lock(mutex_);
  const Deadline now = std::chrono::steady_clock::now();
  bool was_late = false;
  for (size_t i = 0; i < waiters_.size(); ++i) {  // a deque: elements stay where they are while the lock is released
    if (waiters_[i].own || waiters_[i].deadline > now) continue;
    was_late = true;
    settle(waiters_[i], too_late(), lock);
  }
  if (waiting_ > 0) return {};
  is_given_up_ = true;
  return was_late ? too_late() : given_up();
}

void BuildJob::finish(Expected<Kernel> answer) noexcept {
  {
    const std::lock_guard lock(mutex_);
    is_given_up_ = true;
    answer_.emplace(std::move(answer));
    waiting_ = 0;
    changed_.notify_all();
  }
  // Nobody joins or is answered any more, so the waiters do not change.
  for (Waiter& waiter : waiters_) {
    const PendingKernel::Callback done = std::exchange(waiter.done, nullptr);
    if (done && !waiter.own) done(*answer_);
  }
}

// ---- The log ----------------------------------------------------------------------------------------------------------------------

void log_built(const BuiltKernel& kernel) {
  if (!logs(LogLevel::compile)) return;
  const Compiled& made = kernel.compiled;
  log(LogLevel::compile, "built " + made.symbol + ": backend " + std::string(made.backend->name()) + ", schedule " +
                             print(made.schedule) + ", " + std::to_string(kernel.compile_nanoseconds / 1000) + " us; op " +
                             made.op_text + (made.learned.from.empty() ? "" : "; wisdom: " + made.learned.from));
  if (!made.backend->interprets()) return;
  const std::string why = why_interpreted(made);
  log(LogLevel::compile, made.symbol + " is interpreted" +
                             (why.empty() ? ", as the request says" : ", because no backend makes code for it: " + why));
}

void log_not_built(const PreparedOp& op, const Status& status) {
  const LogLevel level = status.code() == Code::internal ? LogLevel::error : LogLevel::compile;
  if (logs(level)) log(level, "not built: " + status.message() + "; op " + print(*op.op()));
}

// ---- The waiters' handle (strew/pending_kernel.h) --------------------------------------------------------------------------------

Status no_memory_for_kernel() {
  return resource_exhausted(
      "kernel: out of memory; it was not built, and nothing is remembered, so ask again when there is memory");
}

bool PendingKernel::ready() const { return job_ == nullptr || job_->ready(waiter_); }

Expected<Kernel> PendingKernel::wait(Deadline until) const {
  if (job_ == nullptr && waiter_ == kNoMemoryForJob) return no_memory_for_kernel();
  if (!failure_.ok()) return failure_;
  if (job_ == nullptr) return invalid_argument("pending kernel: an empty handle, expected one from Runtime::get_async");
  try {
    return job_->wait(waiter_, until);
  } catch (const std::bad_alloc&) {
    return no_memory_for_kernel();
  }
}

void PendingKernel::cancel() {
  if (job_ != nullptr) job_->cancel(waiter_);
}

}  // namespace strew::inline v0
