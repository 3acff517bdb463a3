// Spinning workers, an epoch word, a done counter (research/limits F: fork and join of four threads 0.2-0.55 us while workers spin,
// 30-200 us once they sleep). So workers spin kSpin after their last job, then sleep on a futex, and a job wakes sleepers only when it
// is worth the wait: long itself, or one of many short ones (the debt). A millisecond of spinning spans what a caller does between two
// calls of a loop; common thread pools spin longer.
//
// A team is counted by the workers that help: those awake when it is made, or all that exist where it wakes them. Each of them has a seat, and
// only workers with a seat claim chunks. The count is exact: a worker says that it sleeps before it looks whether the pool is taken, and a
// team takes the pool before it looks who sleeps, so no worker falls asleep between being counted and being needed. Tested by
// tests/unit/executor_test.cc, also under tsan.
#include "runtime/call/executor/executor.h"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <mutex>
#include <thread>

#include "base/fp_environment.h"

namespace strew {
namespace {

constexpr auto kSpin = std::chrono::milliseconds(1);
constexpr int64_t kWorthWaking = 150'000;  // nanoseconds: about what waking a halted core costs
constexpr int kPickable = 64;              // chunks that have a bit in taken_
constexpr int64_t kDebtLimit = 500'000;    // nanoseconds of work done while too few workers were awake
constexpr int kPatience = 64;              // wake-ups between two attempts to start threads that the system refused

constexpr uint64_t pack(uint32_t epoch, int chunks, int next) {
  return uint64_t{epoch} << 32 | static_cast<uint64_t>(chunks) << 16 | static_cast<uint64_t>(next);
}
constexpr int chunks_of(uint64_t state) { return static_cast<int>(state >> 16 & 0xffff); }
constexpr int next_of(uint64_t state) { return static_cast<int>(state & 0xffff); }

/// Ties a thread to the n-th core of the calling thread's mask, counted round. A system that refuses leaves it free.
void pin(pthread_t thread, int n) {
#if defined(__linux__)
  cpu_set_t mine;
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) return;
  n %= CPU_COUNT(&mine);
  for (size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &mine) || n-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    pthread_setaffinity_np(thread, sizeof one, &one);
    return;
  }
#endif
}

inline void pause() {
#if defined(__x86_64__)
  _mm_pause();
#else
  asm volatile("yield");
#endif
}

}  // namespace

/// The process's executors, so that a forked child finds them: only there is it known that their workers are gone.
struct Forks {
  static inline std::mutex mutex;  // guards the list; held across fork(), so that the child finds it whole
  static inline Executor* first = nullptr;

  static void add(Executor* executor) {
    static const int watching = pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); }, in_child);
    static_cast<void>(watching);  // without memory for the handler a child that forks finds sleeping workers: its calls run alone
    const std::lock_guard lock(mutex);
    executor->next_ = first;
    first = executor;
  }
  static void remove(Executor* executor) {
    const std::lock_guard lock(mutex);
    Executor** link = &first;
    while (*link != executor) link = &(*link)->next_;
    *link = executor->next_;
  }
  static void in_child() {
    for (Executor* executor = first; executor != nullptr; executor = executor->next_) executor->forget_workers();
    mutex.unlock();
  }
};

Executor::Executor(const ExecutorOptions& options)
    : options_{std::clamp(options.threads, 1, kMaxThreads), options.pins, options.waits} {
  workers_.reserve(static_cast<size_t>(options_.threads - 1));
  Forks::add(this);
}

Executor::~Executor() {
  Forks::remove(this);
  stop_.store(true);
  signal_.fetch_add(1);
  signal_.notify_all();
  for (const Worker& worker : workers_) pthread_join(worker.thread, nullptr);
}

/// In a forked child, which has one thread. Nothing is allocated or freed: other threads may have held the heap's locks.
void Executor::forget_workers() {
  workers_.clear();
  for (auto& word : awake_) word.store(0);
  for (auto& word : seats_) word.store(0);
  state_.store(pack(epoch_, 0, 0));
  debt_nanoseconds_ = 0;
  tries_ = 0;
  ++forks_;
  busy_.store(kFree);
}

/// All that are missing, as far as the system gives threads: fewer workers, same results.
void Executor::start_workers() {
  while (static_cast<int>(workers_.size()) + 1 < options_.threads) {
    const int id = static_cast<int>(workers_.size());
    Worker& worker = workers_.emplace_back(Worker{this, id, {}});
    const auto body = [](void* mine) -> void* {
      const Worker& w = *static_cast<Worker*>(mine);
      w.executor->work_as(w.id);
      return nullptr;
    };
    auto& awake = awake_[static_cast<size_t>(id / kWord)];
    awake.fetch_or(bit_of(id));
    if (pthread_create(&worker.thread, nullptr, body, &worker) != 0) {
      awake.fetch_and(~bit_of(id));
      workers_.pop_back();
      tries_ = kPatience;
      return;
    }
    if (options_.pins) pin(worker.thread, id + 1);
  }
}

/// The number of a thread in its team: 0 for the caller, then the workers that have a seat.
int Executor::rank(int id) const {
  if (id < 0) return 0;
  int rank = 1;
  for (int word = 0; word <= id / kWord; ++word) {
    const uint64_t mask = word < id / kWord ? ~uint64_t{0} : bit_of(id) - 1;
    rank += std::popcount(seats_[static_cast<size_t>(word)].load(std::memory_order_relaxed) & mask);
  }
  return rank;
}

/// The chunk for worker `id` of a job of few chunks: the first free one from the thread's own share on, so that repeated calls find their
/// lines of the result in the cache that wrote them (other cores' lines cost 100 ns and more across cache complexes). A claim in
/// state_ stands behind every call, so there is a free one.
int Executor::take(int id, int chunks) {
  const int threads = helpers_.load(std::memory_order_relaxed) + 1;
  const int start = static_cast<int>(static_cast<int64_t>(rank(id)) * chunks / threads);
  for (int i = 0;; i = i + 1 == chunks ? 0 : i + 1) {
    const int chunk = start + i < chunks ? start + i : start + i - chunks;
    const uint64_t bit = uint64_t{1} << chunk;
    if ((taken_.load(std::memory_order_relaxed) & bit) == 0 && (taken_.fetch_or(bit, std::memory_order_relaxed) & bit) == 0)
      return chunk;
  }
}

/// Takes one chunk of the current job and runs it; false when there is none for worker `id` (-1: the caller).
bool Executor::claim(int id) {
  uint64_t state = state_.load(std::memory_order_acquire);
  while (next_of(state) < chunks_of(state)) {
    if (id >= 0 && !has_seat(id)) return false;
    if (options_.waits && next_of(state) % (helpers_.load(std::memory_order_relaxed) + 1) != rank(id)) return false;
    const Work work = work_.load(std::memory_order_relaxed);
    void* const context = context_.load(std::memory_order_relaxed);
    if (!state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
    const int chunks = chunks_of(state);
    work(context, chunks <= kPickable ? take(id, chunks) : next_of(state));
    done_.fetch_add(1, std::memory_order_release);
    return true;
  }
  return false;
}

void Executor::work_as(int id) {
  using Clock = std::chrono::steady_clock;
  FpEnvironment::set_default();
  const uint32_t forks = forks_;  // differs in a child that was forked from inside a chunk: there nobody waits for this thread
  Clock::time_point idle_since = Clock::now();
  while (!stop_.load(std::memory_order_relaxed) && forks == forks_) {
    if (claim(id)) {
      idle_since = Clock::now();
      continue;
    }
    if (options_.waits) {  // tests have more threads than cores: workers without a seat leave them to the others
      std::this_thread::yield();
      sleep_as(id);
      continue;
    }
    for (int i = 0;
         i < 64 && next_of(state_.load(std::memory_order_relaxed)) >= chunks_of(state_.load(std::memory_order_relaxed)); ++i)
      pause();
    if (Clock::now() - idle_since < kSpin) continue;
    sleep_as(id);
    idle_since = Clock::now();
  }
}

/// Until the next signal; not at all if a team may count on the worker.
void Executor::sleep_as(int id) {
  auto& awake = awake_[static_cast<size_t>(id / kWord)];
  const uint32_t seen = signal_.load();
  awake.fetch_and(~bit_of(id));
  const int use = busy_.load();
  const bool needed = use == kTaken || (use == kSeated && has_seat(id));
  if (!stop_.load() && !needed) signal_.wait(seen);
  awake.fetch_or(bit_of(id));
}

int Executor::awake_workers() const {
  int count = 0;
  for (int word = 0; word < words(); ++word)
    count += std::popcount(awake_[static_cast<size_t>(word)].load(std::memory_order_relaxed));
  return count;
}

/// Gives seats to at most `wanted` workers, awake ones first and sleeping ones only where they are being woken. Returns how many got one.
int Executor::seat(int wanted, bool woken) {
  const int count = static_cast<int>(workers_.size());
  int seated = 0;
  for (const bool awake : {true, false}) {
    if (!awake && (!woken || seated == wanted)) break;
    for (int word = 0; word < words(); ++word) {
      auto& seats = seats_[static_cast<size_t>(word)];
      const int here = std::min(count - word * kWord, kWord);
      const uint64_t exist = ~uint64_t{0} >> (kWord - here);
      uint64_t chosen = awake ? 0 : seats.load(std::memory_order_relaxed);
      uint64_t from = awake ? exist & awake_[static_cast<size_t>(word)].load(std::memory_order_relaxed) : exist & ~chosen;
      for (; from != 0 && seated < wanted; from &= from - 1, ++seated) chosen |= from & (~from + 1);
      seats.store(chosen, std::memory_order_relaxed);
    }
  }
  return seated;
}

/// Takes the pool, if it is free and somebody is awake or worth waking. Returns the number of workers that help.
int Executor::acquire(int wanted, int64_t nanoseconds) {
  int use = kFree;
  if (!busy_.compare_exchange_strong(use, kTaken)) return 0;
  const int awake = awake_workers();
  bool wake = options_.waits;
  if (awake < wanted) {
    debt_nanoseconds_ += nanoseconds;
    wake = wake || nanoseconds >= kWorthWaking || debt_nanoseconds_ >= kDebtLimit;
  }
  if (wake) {
    debt_nanoseconds_ = 0;
    if (static_cast<int>(workers_.size()) + 1 < options_.threads && --tries_ < 0) start_workers();
  }
  const int helpers = wake || awake > 0 ? seat(wanted, wake) : 0;
  busy_.store(helpers > 0 ? kSeated : kFree, std::memory_order_release);
  if (wake) {
    signal_.fetch_add(1);
    signal_.notify_all();
    if (options_.waits) wait_for_seated();
  }
  return helpers;
}

void Executor::wait_for_seated() {
  for (int word = 0; word < words(); ++word) {
    const uint64_t seats = seats_[static_cast<size_t>(word)].load();
    while ((awake_[static_cast<size_t>(word)].load() & seats) != seats) std::this_thread::yield();
  }
}

Executor::Team::Team(Executor& executor, int threads, int64_t nanoseconds) : executor_(executor), forks_(executor.forks_) {
  const int wanted = std::min(threads, executor.options_.threads) - 1;
  if (wanted > 0) helpers_ = executor.acquire(wanted, nanoseconds);
}

Executor::Team::~Team() {
  if (helpers_ > 0 && forks_ == executor_.forks_) executor_.busy_.store(kFree, std::memory_order_release);
}

void Executor::Team::run(int chunks, Work work, void* context) {
  Executor& e = executor_;
  if (helpers_ == 0 || chunks <= 1 || chunks > kMaxChunks || forks_ != e.forks_) {
    for (int i = 0; i < chunks; ++i) work(context, i);
    return;
  }
  e.work_.store(work, std::memory_order_relaxed);
  e.context_.store(context, std::memory_order_relaxed);
  e.helpers_.store(helpers_, std::memory_order_relaxed);
  e.done_.store(0, std::memory_order_relaxed);
  e.taken_.store(0, std::memory_order_relaxed);
  e.state_.store(pack(++e.epoch_, chunks, 0), std::memory_order_release);
  while (e.claim(-1)) {
  }
  while (e.options_.waits && next_of(e.state_.load()) < chunks_of(e.state_.load()))
    if (!e.claim(-1)) std::this_thread::yield();
  // A child that a chunk of this thread forked has no workers to wait for.
  for (int spins = 0; e.done_.load(std::memory_order_acquire) < chunks && forks_ == e.forks_; ++spins) {
    pause();
    if (spins > 4096) std::this_thread::yield();  // a worker lost its core in mid-chunk
  }
}

}  // namespace strew
