// A pool of workers that spin between jobs. Fork and join of four threads takes 0.2 to 0.55 us while workers spin, and 30 to 200 us once they
// sleep (measured on Zen 3). So a worker spins for a while after its last job (ThreadPoolOptions::spin_microseconds) and then sleeps on a futex. A job wakes sleeping workers only if
// that pays: if the job is long, or if many short jobs in a row found too few workers awake (the debt). It wakes no more workers than it
// wants, and each woken worker wakes two others. The default is a millisecond, which covers what a program does between two calls of a loop.
//
// The states of a worker (ThreadPool::State), and the functions that change them. In brackets: in which set the worker is.
//
//   idle [idle_] ◄──give_back── seated or done
//      │   └──acquire──► seated ──run_on──► posted ──work_as──► running ──work_as──► done ──run_on, the next phase──► posted
//   sleep_as               ▲                  └──await, if it has not begun──► seated
//      ▼                   │
//   asleep [asleep_] ──wake┘        a new worker begins as seated (start_workers); ~ThreadPool: any ──► stop
//
// A team takes its workers out of the sets of free workers, and takes those that are awake first. It knows exactly how many it got: a worker
// that wants to sleep first removes itself from the set of idle workers, which fails if a team has taken it. To start a phase, the caller
// writes one cache line per worker (its share of the chunks and the job). During the phase each thread writes only lines of its own until
// its share is finished. A worker that has not begun when all chunks are taken is called off, so nobody waits for a thread that has lost its
// core. Tested by tests/unit/runtime/call/executor/executor_test.cc, also under tsan.
#include "runtime/call/executor/thread_pool.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "base/cores.h"
#include "base/fork_hooks.h"
#include "base/fp_environment.h"
#include "base/start_thread.h"
#include "runtime/call/executor/limits.h"

namespace strew::inline v0 {
namespace {

/// Work that is worth waking workers for, which wake one after another and from halted cores. `wake_ns`: what waking one costs.
Nanoseconds worth_waking(double wake_ns) {
  constexpr double kWakes = 7.5;
  return whole_ns(kWakes * wake_ns);
}
// In times of what waking one worker costs: work that is done while too few workers are awake before some are woken for small work, too.
constexpr double kDebtLimit = 25;
constexpr int kPatience = 64;               // wake-ups between two attempts to start threads that the system refused
constexpr int kSpins = 4096, kYields = 64;  // of a caller that waits for a worker, before it sleeps
constexpr std::chrono::microseconds kNap{50};

inline void pause() {
#if defined(__x86_64__)
  _mm_pause();
#else
  asm volatile("yield");
#endif
}

}  // namespace

/// The process's pools, so that a forked child finds them: only there is it known that their workers are gone.
struct Forks {
  static inline std::mutex mutex;  // guards the list; held across fork(), so that the child finds it whole
  static inline ThreadPool* first = nullptr;

  static void add(ThreadPool* executor) {
    [[maybe_unused]] static const bool kIsHeld =
        (set_fork_hooks(ForkStage::executors, {[] { mutex.lock(); }, [] { mutex.unlock(); }, in_child}), true);
    const std::lock_guard lock(mutex);
    executor->next_ = first;
    first = executor;
  }
  static void remove(ThreadPool* executor) {
    const std::lock_guard lock(mutex);
    ThreadPool** link = &first;
    while (*link != executor) link = &(*link)->next_;
    *link = executor->next_;
  }
  static void in_child() {
    for (ThreadPool* executor = first; executor != nullptr; executor = executor->next_) executor->forget_workers();
    mutex.unlock();
  }
};

ThreadPool::ThreadPool(const ThreadPoolOptions& options)
    : options_{std::clamp(options.threads, 1, kMaxThreads), options.pins, options.waits, std::max(options.spin_microseconds, 0)},
      seats_(new Seat[static_cast<size_t>(options_.threads - 1)]) {
  Forks::add(this);
}

ThreadPool::~ThreadPool() {
  Forks::remove(this);
  stop_.store(true);
  const int count = started_.load();
  for (int id = 0; id < count; ++id) {
    seats_[static_cast<size_t>(id)].state.store(kStop);
    notify(id);
  }
  for (int id = 0; id < count; ++id) pthread_join(seats_[static_cast<size_t>(id)].thread, nullptr);
}

/// In a forked child, which has one thread. Nothing is allocated or freed: other threads may have held the heap's locks.
void ThreadPool::forget_workers() {
  started_.store(0);
  starting_.store(false);
  idle_.clear();
  asleep_.clear();
  debt_ns_.store(0);
  tries_.store(0);
  ++forks_;
}

void ThreadPool::notify(int id) { seats_[static_cast<size_t>(id)].state.notify_one(); }

// ---- Workers ----------------------------------------------------------------------------------------------------------------------------

void ThreadPool::work_as(int id) {
  using Clock = std::chrono::steady_clock;
  FpEnvironment::set_default();
  const std::chrono::microseconds spin(options_.spin_microseconds);
  const uint32_t forks = forks_;  // differs in a child that was forked from inside a chunk: there nobody waits for this thread
  Seat& seat = seats_[static_cast<size_t>(id)];
  Clock::time_point idle_since = Clock::now();
  while (!stop_.load(std::memory_order_relaxed) && forks == forks_) {
    uint32_t state = seat.state.load(std::memory_order_acquire);
    if (state == kPosted) {
      if (!seat.state.compare_exchange_strong(state, kRunning, std::memory_order_acquire)) continue;  // called off
      take_part(*seat.job, seat.rank);
      seat.state.store(kDone, std::memory_order_release);
      idle_since = Clock::now();
      continue;
    }
    if (options_.waits) {  // tests have more threads than cores
      std::this_thread::yield();
      if (state == kIdle) sleep_as(id);
      continue;
    }
    for (int i = 0; i < 64 && seat.state.load(std::memory_order_relaxed) == state; ++i) pause();
    if (state != kIdle) idle_since = Clock::now();
    if (Clock::now() - idle_since < spin) continue;
    sleep_as(id);
    idle_since = Clock::now();
  }
}

/// Until a team wakes the worker; not at all if one has just taken it.
void ThreadPool::sleep_as(int id) {
  Seat& seat = seats_[static_cast<size_t>(id)];
  if (!idle_.remove(id)) return;
  seat.state.store(kAsleep);
  if (stop_.load()) return;  // kStop may have been stored before
  asleep_.add(id);
  while (seat.state.load(std::memory_order_acquire) == kAsleep) seat.state.wait(kAsleep);
  // A system may wake a worker that slept for long on the core of its caller, whom it then keeps from working by waiting for its work.
  if (!options_.pins) leave_core(seat.core_of_caller);
  for (const int other : seat.wakes)
    if (other >= 0) notify(other);
}

/// Chunks of the job, first of the thread's own share, then of the shares of the threads beside it, until none is left.
void ThreadPool::take_part(Job& job, int rank) {
  const auto share_of = [&](int of) -> Share& {
    return of == 0 ? job.callers : seats_[job.ids[static_cast<size_t>(of - 1)]].share;
  };
  Share& own = share_of(rank);
  for (int chunk = own.take_first(); chunk >= 0; chunk = own.take_first()) job.work(job.context, chunk);
  job.beginning.fetch_sub(1, std::memory_order_relaxed);
  if (options_.waits) return;
  for (int distance = 1; distance < job.threads; ++distance) {
    // Where all have come to the end of their shares nothing is left: looking at each share would only slow the last ones down.
    if (job.beginning.load(std::memory_order_relaxed) == 0) return;
    const int next = rank + distance < job.threads ? rank + distance : rank + distance - job.threads;
    Share& other = share_of(next);
    for (int chunk = other.take_last(); chunk >= 0; chunk = other.take_last()) job.work(job.context, chunk);
  }
}

// ---- Teams ------------------------------------------------------------------------------------------------------------------------------

/// Fewer than wanted where the system gives no more threads: fewer workers, same results. They belong to the caller's team.
int ThreadPool::start_workers(int wanted, uint16_t* ids) {
  if (started_.load(std::memory_order_relaxed) + 1 >= options_.threads || tries_.fetch_sub(1, std::memory_order_relaxed) > 0)
    return 0;
  if (starting_.exchange(true, std::memory_order_acquire)) return 0;
  CoreList cores;
  if (options_.pins) cores = cores_by_node();
  int started = 0;
  while (started < wanted && started_.load(std::memory_order_relaxed) + 1 < options_.threads) {
    const int id = started_.load(std::memory_order_relaxed);
    Seat& seat = seats_[static_cast<size_t>(id)];
    seat.pool = this;
    seat.state.store(kSeated);
    const auto body = [](void* mine) -> void* {
      const Seat* const s = static_cast<Seat*>(mine);
      s->pool->work_as(static_cast<int>(s - s->pool->seats_.get()));
      return nullptr;
    };
    if (start_thread(seat.thread, nullptr, body, &seat) != 0) {
      tries_.store(kPatience, std::memory_order_relaxed);
      break;
    }
    if (options_.pins && cores.count > 0) pin(seat.thread, cores.numbers[static_cast<size_t>((id + 1) % cores.count)]);
    started_.store(id + 1, std::memory_order_relaxed);
    ids[started++] = static_cast<uint16_t>(id);
  }
  starting_.store(false, std::memory_order_release);
  return started;
}

/// Sleeping workers that have been taken out of asleep_: the first two here, each further one by one of them. The last one is seated first: a
/// worker that was only about to sleep goes on as soon as it is seated, and those that it wakes would sleep again if they were not seated yet.
void ThreadPool::wake(const uint16_t* ids, int count) {
  const int core = current_core();
  for (int i = count; i-- > 0;) {
    Seat& seat = seats_[ids[i]];
    for (size_t child = 0; child < 2; ++child) {
      const int at = 2 * i + 2 + static_cast<int>(child);
      seat.wakes[child] = at < count ? ids[at] : -1;
    }
    seat.core_of_caller = core;
    seat.state.store(kSeated);
  }
  for (int i = 0; i < std::min(count, 2); ++i) notify(ids[i]);
}

/// Is a worker in no team? It may be in neither set while it falls asleep.
bool ThreadPool::has_free_worker() const {
  for (int id = 0; id < started_.load(); ++id) {
    const uint32_t state = seats_[static_cast<size_t>(id)].state.load();
    if (state == kIdle || state == kAsleep) return true;
  }
  return false;
}

/// Takes workers that are awake, and where the work is worth it wakes and starts others. Returns how many; `ids` ascend.
int ThreadPool::acquire(int wanted, Nanoseconds work, uint16_t* ids) {
  int count = idle_.take(wanted, ids);
  for (int i = 0; i < count; ++i) seats_[ids[i]].state.store(kSeated, std::memory_order_relaxed);
  if (count == wanted) return count;
  const int64_t debt = debt_ns_.fetch_add(work.count(), std::memory_order_relaxed) + work.count();
  const int awake = count;
  const double wake_ns = default_limits()->costs.wake_ns;
  if (options_.waits || work >= worth_waking(wake_ns) || static_cast<double>(debt) >= kDebtLimit * wake_ns) {
    debt_ns_.store(0, std::memory_order_relaxed);
    const int woken = asleep_.take(wanted - count, ids + count);
    wake(ids + count, woken);
    count += woken;
    if (count < wanted) count += start_workers(wanted - count, ids + count);
    while (options_.waits && count < wanted && has_free_worker()) {
      std::this_thread::yield();
      const int slept = asleep_.take(wanted - count, ids + count);
      wake(ids + count, slept);
      count += slept;
    }
  }
  if (count > awake) std::sort(ids, ids + count);
  return count;
}

/// Until the worker has done what it took of the job. One that has not begun is called off. A worker that lost its core in mid-chunk may be
/// away for a time slice, and for ever while a caller of higher real-time priority keeps the core busy: so the caller lets others run first,
/// and then sleeps, a short while each time. It is not woken by the worker, which would cost every phase a locked instruction.
void ThreadPool::await(Seat& seat, uint32_t forks) {
  uint32_t state = kPosted;
  if (!options_.waits && seat.state.compare_exchange_strong(state, kSeated, std::memory_order_acquire)) return;
  // A child that a chunk of this thread forked has no workers to wait for.
  for (int spins = 0; seat.state.load(std::memory_order_acquire) != kDone && forks == forks_; ++spins) {
    pause();
    if (options_.waits || spins > kSpins) std::this_thread::yield();
    if (spins > kSpins + kYields) std::this_thread::sleep_for(kNap);
  }
}

void ThreadPool::give_back(const uint16_t* ids, int helpers, uint32_t forks) {
  if (helpers == 0 || forks != forks_) return;
  for (int i = 0; i < helpers; ++i) seats_[ids[i]].state.store(kIdle, std::memory_order_release);
  idle_.add(ids, helpers);
}

void ThreadPool::run_on(const uint16_t* ids, int helpers, uint32_t forks, Chunks parts, Task work, void* context) {
  const int chunks = parts.count();
  const int threads = std::min(helpers + 1, chunks);
  const auto border = [&](int rank) { return static_cast<int>(static_cast<int64_t>(rank) * chunks / threads); };
  Job job{work, context, threads, ids, threads, {}};
  job.callers.set(0, border(1));
  for (int rank = 1; rank < threads; ++rank) seats_[ids[rank - 1]].share.set(border(rank), border(rank + 1));
  for (int rank = 1; rank < threads; ++rank) {
    Seat& seat = seats_[ids[rank - 1]];
    seat.rank = rank;
    seat.job = &job;
    seat.state.store(kPosted, std::memory_order_release);
  }
  take_part(job, 0);
  for (int rank = 1; rank < threads; ++rank) await(seats_[ids[rank - 1]], forks);
}

/// How long the tasks take is not known. Whoever asks for several threads has work for them, so sleeping workers are woken.
void ThreadPool::parallel_for(int count, Task task, void* context) {
  run(Chunks(count), threads(), worth_waking(default_limits()->costs.wake_ns), task, context);
}

Team::Team(Executor& executor, int threads, Nanoseconds work) : pool_(executor.thread_pool()), executor_(executor) {
  const int wanted = std::min({threads, executor.threads(), WorkerSet::kMost}) - 1;
  if (pool_ != nullptr) forks_ = pool_->forks_;
  if (wanted <= 0) return;
  // One thread takes t; w helpers and the caller take t / (w + 1) and what the host needs to call them.
  if (pool_ == nullptr && work - work / (wanted + 1) < Nanoseconds(executor.dispatch_ns())) return;
  helpers_ = pool_ != nullptr ? pool_->acquire(wanted, work, ids_.data()) : wanted;
}

Team::~Team() {
  if (pool_ != nullptr) pool_->give_back(ids_.data(), helpers_, forks_);
}

namespace {

/// Chunks that run in the floating-point environment of the thread that gives them.
struct Likewise {
  Team::Work work;
  void* context;
  FpEnvironment::Word environment = FpEnvironment::current();
  static void run(void* of, int chunk) noexcept {
    const auto& [work, context, environment] = *static_cast<const Likewise*>(of);
    const FpEnvironment here(environment);
    work(context, chunk);
  }
};

}  // namespace

void Team::run(int chunks, Work work, void* context) {
  Likewise likewise{work, context};
  if (helpers_ > 0 && pool_ == nullptr) return run_on_host(executor_, chunks, Likewise::run, &likewise);
  if (helpers_ > 0 && chunks > 1 && forks_ == pool_->forks_)
    return pool_->run_on(ids_.data(), helpers_, forks_, Chunks(chunks), Likewise::run, &likewise);
  for (int i = 0; i < chunks; ++i) work(context, i);
}

}  // namespace strew::inline v0
