// See compile_threads.h.
#include "runtime/compile_threads.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <climits>
#include <cstdlib>
#include <utility>

#include "base/fork_hooks.h"
#include "base/log.h"
#include "base/module.h"
#include "base/start_thread.h"
#include "runtime/epoch.h"

namespace strew::inline v0 {
namespace {

/// What this thread does for pools at the moment, the innermost first.
thread_local constinit const CompileThreads::Frame* frames = nullptr;
thread_local constinit const CompileThreads* own_pool = nullptr;  ///< the pool to which this thread belongs

/// How many of the pool's running jobs are frames of this thread, which cannot wait for their end.
int own_frames(const CompileThreads* pool, bool jobs_only = false) {
  int count = 0;
  for (const CompileThreads::Frame* frame = frames; frame != nullptr; frame = frame->outer)
    count += frame->pool == pool && (frame->is_job || !jobs_only) ? 1 : 0;
  return count;
}

}  // namespace

/// The process's pools, for fork() and for the end of the process. Never destroyed.
///
/// Whoever waits for a pool pins it and lets go of the mutex, because what it waits for may make and destroy runtimes.
struct CompileForks {
  // Guards the list, its pins, and the members up to `forks`; held across fork(), so that the child finds it whole.
  std::mutex mutex;
  std::condition_variable unpinned;  // told when a pool has no pin left
  std::vector<CompileThreads*> pools;
  bool waited = true;             ///< the fork in progress found or made every pool quiet
  bool child_works = true;        ///< the value of works_after_fork()
  uint64_t forks = 0;             ///< between the first process that compiled and this one
  std::atomic<int> forking{0};    ///< forks in progress: no job begins. Set before a pool's mutex is taken, read under it
  std::atomic<uint64_t> jobs{0};  ///< that have ended
  std::atomic<bool> ends{false};  ///< exit() has begun, or the library is being unloaded

  static CompileForks& process() {
    static CompileForks* const made = new CompileForks;
    return *made;
  }
  CompileForks() {
    set_fork_hooks(ForkStage::compile_threads,
                   {[] { process().before(); }, [] { process().after_in_parent(); }, [] { process().after_in_child(); }});
    // For an exit() that no watched thread calls (ExitWatch, below). Handlers run in the reverse order of their registration. The first one stops
    // the pools before what existed already is destroyed; the others before the static objects that libraries make when they are opened, and
    // when their code runs for the first time.
    std::atexit(stop_all);
    after_modules_open([] { std::atexit(stop_all); });
  }

  /// After a job: its libraries may have made static objects, often at first, then ever more seldom; and nobody waits for this thread now.
  void after_job() {
    epochs::rely_on_barrier();
    constexpr uint64_t kAlways = 32;
    const uint64_t number = jobs.fetch_add(1, std::memory_order_relaxed) + 1;
    if (number <= kAlways || std::has_single_bit(number)) std::atexit(stop_all);
  }

  void add(CompileThreads* pool) {
    const std::lock_guard lock(mutex);
    pool->stops_ = ends.load();
    pools.push_back(pool);
  }
  void remove(CompileThreads* pool) {
    std::unique_lock lock(mutex);
    unpinned.wait(lock, [&] { return pool->pins_ == 0; });
    std::erase(pools, pool);
  }

  /// Calls wait(pool), without the lock, for a pool for which is_done() is false, until there is none or wait() returns false.
  template <class IsDone, class Wait>
  void wait_for_all(std::unique_lock<std::mutex>& lock, const IsDone& is_done, const Wait& wait) {
    for (bool goes_on = true; goes_on;) {
      const auto found = std::find_if(pools.begin(), pools.end(), [&](CompileThreads* pool) { return !is_done(*pool); });
      if (found == pools.end()) return;
      CompileThreads& pool = **found;  // the list may change meanwhile
      ++pool.pins_;
      lock.unlock();
      goes_on = wait(pool);
      lock.lock();
      if (--pool.pins_ == 0) unpinned.notify_all();
    }
  }

  void before() {
    forking.fetch_add(1);
    std::unique_lock lock(mutex);
    const auto deadline = std::chrono::steady_clock::now() + CompileThreads::kForkPatience;
    const auto is_quiet = [](CompileThreads& pool) {
      const std::lock_guard one(pool.mutex_);
      return pool.running_ <= own_frames(&pool);
    };
    bool all_quiet = true;
    wait_for_all(lock, is_quiet, [&](CompileThreads& pool) {
      std::unique_lock one(pool.mutex_);
      return all_quiet = pool.watch(one, deadline, [&] { return pool.running_ <= own_frames(&pool); });
    });
    waited = all_quiet;
    for (CompileThreads* const pool : pools) {
      pool->mutex_.lock();
      pool->join_finished();  // the child could not, and would keep their stacks
    }
    static_cast<void>(lock.release());  // the mutexes stay locked, so that the child finds what they guard whole
  }
  void after_in_parent() {
    forking.fetch_sub(1);
    for (CompileThreads* const pool : pools) {
      pool->mutex_.unlock();
      pool->changed_.notify_all();
    }
    mutex.unlock();
  }
  void after_in_child() {
    child_works &= waited;
    ++forks;
    forking = 0;
    new (&unpinned) std::condition_variable;  // the old one may count waiters that do not exist here
    for (CompileThreads* const pool : pools) {
      new (&pool->jobs_) std::deque<CompileThreads::Job>;  // the parent's; what they hold is left to the parent's copy
      new (&pool->changed_) std::condition_variable;
      new (&pool->finished_) std::vector<pthread_t>;
      pool->running_ = own_frames(pool);
      pool->threads_ = own_pool == pool ? 1 : 0;
      pool->idle_ = 0;
      pool->watchers_ = 0;
      pool->pins_ = 0;
      pool->mutex_.unlock();
    }
    mutex.unlock();
  }

  /// At exit and when the library is unloaded: no thread of ours runs code afterwards, except the one that ends the process.
  static void stop_all() {
    CompileForks& all = process();
    std::unique_lock lock(all.mutex);
    all.ends = true;
    const auto is_stopped = [](CompileThreads& pool) {
      const std::lock_guard one(pool.mutex_);
      return pool.stops_ && pool.running_ <= own_frames(&pool) && pool.threads_ <= (own_pool == &pool ? 1 : 0);
    };
    all.wait_for_all(lock, is_stopped, [](CompileThreads& pool) { return pool.end_jobs(pool.stops_, own_frames(&pool)); });
  }
};

namespace {

/// Stops the pools when the process's first thread calls exit() or returns from main(). Handlers of exit() would be too late: libLLVM registers
/// destructors of its static objects all the time that it is being opened and first used, and exit() always runs the latest. The objects of the thread
/// that calls exit() are destroyed before any static object, whenever that was made, so this one's destructor waits for the builds in time. Of
/// other threads it does nothing, because it cannot tell exit() from the thread's own end.
struct ExitWatch {
  ~ExitWatch() {
    if (gettid() == getpid()) CompileForks::stop_all();
  }
};
thread_local ExitWatch exit_watch;

/// The calling thread's end is watched from now on.
void watch_exit() { static_cast<void>(&exit_watch); }

/// The thread that loads the library is the first one as a rule, and may never ask for a kernel itself.
[[maybe_unused]] const bool kWatchesLoadingThread = (watch_exit(), true);

}  // namespace

CompileThreads::CompileThreads(int most, size_t stack_bytes, int nice)
    : most_(std::max(most, 1)), stack_bytes_(std::max(stack_bytes, static_cast<size_t>(PTHREAD_STACK_MIN))), nice_(nice) {
  watch_exit();
  CompileForks::process().add(this);
}

CompileThreads::~CompileThreads() {
  CompileForks::process().remove(this);
  end_jobs(stops_, 0);
}

bool CompileThreads::drain(std::chrono::steady_clock::time_point until) { return end_jobs(is_drained_, own_frames(this), until); }

/// Sets the flag, drops the jobs that have not begun, and waits for the others but the `own` ones, which this thread runs. False if `until` passes first.
bool CompileThreads::end_jobs(bool& flag, int own, std::chrono::steady_clock::time_point until) {
  std::deque<Job> dropped;
  std::unique_lock lock(mutex_);
  flag = true;
  dropped.swap(jobs_);
  changed_.notify_all();
  const bool quiet = watch(lock, until, [&] { return threads_ <= (own_pool == this ? 1 : 0) && running_ <= own; });
  join_finished();
  lock.unlock();  // what the jobs hold may take the lock when it is destroyed
  return quiet;
}

/// The caller holds the lock. The threads have left work(), or are about to.
void CompileThreads::join_finished() {
  for (const pthread_t thread : finished_) pthread_join(thread, nullptr);
  finished_.clear();
}

bool CompileThreads::works_after_fork() { return CompileForks::process().child_works; }
uint64_t CompileThreads::forks() { return CompileForks::process().forks; }

/// The caller holds the lock. A thread that already works for a pool goes on: the fork waits for it.
void CompileThreads::wait_for_fork(std::unique_lock<std::mutex>& lock) {
  if (frames == nullptr) watch(lock, kNoDeadline, [] { return CompileForks::process().forking.load() == 0; });
}

CompileThreads::Here::Here(CompileThreads& pool, bool is_job) : pool_(pool), frame_{&pool, is_job, frames} {
  watch_exit();  // in a forked child, the first thread may be another than the parent's
  std::unique_lock lock(pool.mutex_);
  pool.wait_for_fork(lock);
  if (pool.stops_ && frames == nullptr) return;
  began_ = true;
  ++pool.running_;
  frames = &frame_;
}
CompileThreads::Here::~Here() {
  if (!began_) return;
  frames = frame_.outer;
  const std::lock_guard lock(pool_.mutex_);
  --pool_.running_;
  if (pool_.watchers_ > 0) pool_.changed_.notify_all();  // not otherwise: it would wake threads that wait for jobs
}

/// Runs the job on this thread. It is dropped if the process ends.
void CompileThreads::run_here(const Job& job) {
  const Here here(*this, true);
  if (!here) return;
  job();
  CompileForks::process().after_job();
}

void CompileThreads::run(Job job) {
  if (own_frames(this, true) > 0) return run_here(job);
  {
    std::unique_lock lock(mutex_);
    if (stops_) return;
    if (is_drained_) {
      lock.unlock();
      return run_here(job);
    }
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

/// The caller holds the lock.
bool CompileThreads::start_thread() {
  join_finished();
  finished_.reserve(static_cast<size_t>(most_));
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, stack_bytes_);
  pthread_t thread;
  const auto body = [](void* of) -> void* {
    auto& pool = *static_cast<CompileThreads*>(of);
    // Where the system refuses, the thread works as others do.
    if (pool.nice_ > getpriority(PRIO_PROCESS, 0)) static_cast<void>(setpriority(PRIO_PROCESS, 0, pool.nice_));
    pool.work();
    return nullptr;
  };
  const bool started = strew::start_thread(thread, &attributes, body, this) == 0;
  pthread_attr_destroy(&attributes);
  threads_ += started;
  return started;
}

void CompileThreads::work() {
  own_pool = this;
  std::unique_lock lock(mutex_);
  while (!stops_ && !is_drained_) {
    if (jobs_.empty()) {
      ++idle_;
      const bool has_job = changed_.wait_for(lock, kLinger, [&] { return stops_ || is_drained_ || !jobs_.empty(); });
      --idle_;
      if (!has_job) break;
      continue;
    }
    if (CompileForks::process().forking.load() != 0) {
      wait_for_fork(lock);
      continue;
    }
    const Frame frame{this, true, nullptr};
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    ++running_;
    lock.unlock();
    frames = &frame;
    job();
    job = nullptr;  // what it holds may take the lock when it is destroyed
    CompileForks::process().after_job();
    frames = nullptr;
    lock.lock();
    --running_;
    if (watchers_ > 0) changed_.notify_all();
  }
  --threads_;
  finished_.push_back(pthread_self());
  changed_.notify_all();
}

}  // namespace strew::inline v0
