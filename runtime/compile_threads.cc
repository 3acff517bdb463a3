// See compile_threads.h.
#include "runtime/compile_threads.h"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/fork_hooks.h"
#include "base/log.h"

namespace strew::inline v0 {
namespace {

/// The pool whose job this thread runs, or to which it belongs.
thread_local const CompileThreads* pool_of_thread = nullptr;
thread_local bool belongs_to_pool = false;

}  // namespace

/// The process's pools, for fork() and for the end of the process. Never destroyed.
struct CompileForks {
  std::mutex mutex;  // guards the list; held across fork(), so that the child finds it whole
  CompileThreads* first = nullptr;
  bool waited = true;                      ///< the fork in progress found or made every pool quiet
  bool child_works = true;                 ///< the value of works_after_fork()
  uint64_t forks = 0;                      ///< between the first process that compiled and this one
  std::atomic<bool> stops_at_exit{false};  ///< stop_all() is registered

  static CompileForks& process() {
    static CompileForks* const made = new CompileForks;
    return *made;
  }
  CompileForks() {
    set_fork_hooks(ForkStage::compile_threads,
                   {[] { process().before(); }, [] { process().after_in_parent(); }, [] { process().after_in_child(); }});
  }

  void add(CompileThreads* pool) {
    const std::lock_guard lock(mutex);
    pool->next_ = first;
    first = pool;
  }
  void remove(CompileThreads* pool) {
    const std::lock_guard lock(mutex);
    CompileThreads** link = &first;
    while (*link != pool) link = &(*link)->next_;
    *link = pool->next_;
  }

  void before() {
    mutex.lock();
    waited = true;
    const auto deadline = std::chrono::steady_clock::now() + CompileThreads::kForkPatience;
    for (CompileThreads* pool = first; pool != nullptr; pool = pool->next_) {
      std::unique_lock lock(pool->mutex_);
      const int own = pool_of_thread == pool ? 1 : 0;  // a job that forks cannot wait for its own end
      ++pool->watchers_;
      waited &= pool->changed_.wait_until(lock, deadline, [&] { return pool->running_ <= own; });
      --pool->watchers_;
      lock.release();  // the mutex stays locked, so that no job begins
    }
  }
  void after_in_parent() {
    for (CompileThreads* pool = first; pool != nullptr; pool = pool->next_) {
      pool->mutex_.unlock();
      pool->changed_.notify_all();
    }
    mutex.unlock();
  }
  void after_in_child() {
    child_works &= waited;
    ++forks;
    for (CompileThreads* pool = first; pool != nullptr; pool = pool->next_) {
      new (&pool->jobs_) std::deque<CompileThreads::Job>;  // the parent's; what they hold is left to the parent's copy
      new (&pool->changed_) std::condition_variable;       // the old one may count waiters that do not exist here
      new (&pool->finished_) std::vector<pthread_t>;
      pool->running_ = pool_of_thread == pool ? 1 : 0;
      pool->threads_ = pool_of_thread == pool && belongs_to_pool ? 1 : 0;
      pool->idle_ = 0;
      pool->watchers_ = 0;
      pool->mutex_.unlock();
    }
    mutex.unlock();
  }

  /// At exit and when the library is unloaded: no thread of ours runs code afterwards.
  static void stop_all() {
    const std::lock_guard lock(process().mutex);
    for (CompileThreads* pool = process().first; pool != nullptr; pool = pool->next_) {
      if (pool_of_thread != pool) pool->stop();  // a job that calls exit() cannot wait for itself
    }
  }
  /// Called after a job: handlers run in the reverse order of their registration, and the libraries that the job opened have
  /// registered theirs before.
  void stop_at_exit() {
    if (!stops_at_exit.exchange(true)) std::atexit(stop_all);
  }
};

CompileThreads::CompileThreads(int most, size_t stack_bytes, int nice)
    : most_(std::max(most, 1)), stack_bytes_(std::max<size_t>(stack_bytes, PTHREAD_STACK_MIN)), nice_(nice) {
  CompileForks::process().add(this);
}

CompileThreads::~CompileThreads() {
  CompileForks::process().remove(this);
  stop();
}

void CompileThreads::stop() {
  std::unique_lock lock(mutex_);
  stops_ = true;
  std::deque<Job> dropped = std::move(jobs_);
  jobs_.clear();
  changed_.notify_all();
  ++watchers_;
  changed_.wait(lock, [&] { return threads_ == 0 && running_ == 0; });
  --watchers_;
  join_finished();
}

/// The caller holds the lock. The threads have left work(), or are about to.
void CompileThreads::join_finished() {
  for (const pthread_t thread : finished_) pthread_join(thread, nullptr);
  finished_.clear();
}

bool CompileThreads::works_after_fork() { return CompileForks::process().child_works; }
uint64_t CompileThreads::forks() { return CompileForks::process().forks; }

CompileThreads::Here::Here(CompileThreads& pool) : pool_(pool) {
  const std::lock_guard lock(pool_.mutex_);
  ++pool_.running_;
}
CompileThreads::Here::~Here() {
  const std::lock_guard lock(pool_.mutex_);
  --pool_.running_;
  if (pool_.watchers_ > 0) pool_.changed_.notify_all();  // not otherwise: it would wake threads that wait for jobs
}

/// Runs the job on this thread.
void CompileThreads::run_here(const Job& job) {
  {
    const std::lock_guard lock(mutex_);
    ++running_;
  }
  const CompileThreads* const before = std::exchange(pool_of_thread, this);
  job();
  pool_of_thread = before;
  CompileForks::process().stop_at_exit();
  const std::lock_guard lock(mutex_);
  --running_;
  changed_.notify_all();
}

void CompileThreads::run(Job job) {
  if (pool_of_thread == this) return run_here(job);
  {
    const std::lock_guard lock(mutex_);
    if (stops_) return;
    const bool has_thread = idle_ > static_cast<int>(jobs_.size());
    if (has_thread || threads_ == most_ || start_thread() || threads_ > 0) {
      jobs_.push_back(std::move(job));
      changed_.notify_all();
      return;
    }
  }
  static std::once_flag once;
  std::call_once(once, [] {
    log_or_keep_warning("the system refuses to start a thread for compiling: callers of Runtime::get compile themselves");
  });
  run_here(job);
}

/// Gives this thread a nice value. Where the system refuses, the thread works as others do.
static void step_back(int nice) {
  if (nice > getpriority(PRIO_PROCESS, 0)) static_cast<void>(setpriority(PRIO_PROCESS, 0, nice));
}

/// The caller holds the lock.
bool CompileThreads::start_thread() {
  join_finished();
  finished_.reserve(static_cast<size_t>(most_));
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, stack_bytes_);
  pthread_t thread;
  const auto body = [](void* pool) -> void* {
    step_back(static_cast<CompileThreads*>(pool)->nice_);
    static_cast<CompileThreads*>(pool)->work();
    return nullptr;
  };
  const bool started = pthread_create(&thread, &attributes, body, this) == 0;
  pthread_attr_destroy(&attributes);
  threads_ += started;
  return started;
}

void CompileThreads::work() {
  pool_of_thread = this;
  belongs_to_pool = true;
  std::unique_lock lock(mutex_);
  while (!stops_) {
    if (jobs_.empty()) {
      ++idle_;
      const bool has_job = changed_.wait_for(lock, kLinger, [&] { return stops_ || !jobs_.empty(); });
      --idle_;
      if (!has_job) break;
      continue;
    }
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    ++running_;
    lock.unlock();
    job();
    job = nullptr;  // what it holds may take the lock when it is destroyed
    CompileForks::process().stop_at_exit();
    lock.lock();
    --running_;
    changed_.notify_all();
  }
  --threads_;
  finished_.push_back(pthread_self());
  changed_.notify_all();
}

}  // namespace strew::inline v0
