// Spinning workers, an epoch word, a done counter (research/limits F: fork and join of four threads 0.2-0.55 us while workers spin,
// 30-200 us once they sleep). So workers spin kSpin after their last job, then sleep on a futex, and a job wakes sleepers only when it
// is worth the wait: long itself, or one of many short ones (the debt). A millisecond of spinning spans what a caller does between two
// calls of a loop; common thread pools spin longer. Tested by tests/unit/executor_test.cc, also under tsan.
#include "runtime/executor/executor.h"

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

#include <chrono>
#include <system_error>

#include "runtime/fp_environment.h"

namespace strew {
namespace {

constexpr auto kSpin = std::chrono::milliseconds(1);
constexpr int64_t kWorthWaking = 150'000;  // nanoseconds: about what waking a halted core costs
constexpr int kPickable = 64;              // chunks that have a bit in taken_
constexpr int64_t kDebtLimit = 500'000;    // nanoseconds of work done alone while workers slept

constexpr uint64_t pack(uint32_t epoch, int chunks, int next) {
  return uint64_t{epoch} << 32 | static_cast<uint64_t>(chunks) << 16 | static_cast<uint64_t>(next);
}
constexpr int chunks_of(uint64_t state) { return static_cast<int>(state >> 16 & 0xffff); }
constexpr int next_of(uint64_t state) { return static_cast<int>(state & 0xffff); }

/// Ties a thread to the n-th core of the calling thread's mask, counted round. A system that refuses leaves it free.
void pin(std::thread& thread, int n) {
#if defined(__linux__)
  cpu_set_t mine;
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) return;
  n %= CPU_COUNT(&mine);
  for (size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &mine) || n-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    pthread_setaffinity_np(thread.native_handle(), sizeof one, &one);
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

Executor::Executor(int threads, bool pins) : threads_(threads < 1 ? 1 : threads), pins_(pins) {}

Executor::~Executor() {
  stop_.store(true);
  signal_.fetch_add(1);
  signal_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Executor::start_workers() {
  started_ = true;
  workers_.reserve(static_cast<size_t>(threads_ - 1));
  for (int id = 0; id + 1 < threads_; ++id) {
    try {
      workers_.emplace_back([this, id] { worker(id); });
      if (pins_) pin(workers_.back(), id + 1);
    } catch (const std::system_error&) {
      return;  // the process has all the threads it may have: fewer workers, same results
    }
  }
}

/// The chunk for worker `id` of a job of few chunks: the first free one from the thread's own share on, so that repeated calls find their
/// lines of the result in the cache that wrote them (other cores' lines cost 100 ns and more across cache complexes). A claim in
/// state_ stands behind every call, so there is a free one.
int Executor::pick(int id, int chunks) {
  const int seats = helpers_.load(std::memory_order_relaxed) + 1;
  const int start = static_cast<int>(static_cast<int64_t>(id + 1) * chunks / seats);
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
    if (id >= helpers_.load(std::memory_order_relaxed)) return false;
    const Work work = work_.load(std::memory_order_relaxed);
    void* const context = context_.load(std::memory_order_relaxed);
    if (!state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
    const int chunks = chunks_of(state);
    work(context, chunks <= kPickable ? pick(id, chunks) : next_of(state));
    done_.fetch_add(1, std::memory_order_release);
    return true;
  }
  return false;
}

void Executor::worker(int id) {
  using Clock = std::chrono::steady_clock;
  FpEnvironment::set_default();
  Clock::time_point idle_since = Clock::now();
  while (!stop_.load(std::memory_order_relaxed)) {
    if (claim(id)) {
      idle_since = Clock::now();
      continue;
    }
    for (int i = 0;
         i < 64 && next_of(state_.load(std::memory_order_relaxed)) >= chunks_of(state_.load(std::memory_order_relaxed)); ++i)
      pause();
    if (Clock::now() - idle_since < kSpin) continue;
    const uint32_t seen = signal_.load();
    sleepers_.fetch_add(1);
    if (!stop_.load()) signal_.wait(seen);
    sleepers_.fetch_sub(1);
    idle_since = Clock::now();
  }
}

/// Takes the pool, if it is free and enough of it is awake or worth waking.
bool Executor::acquire(int64_t nanoseconds) {
  if (busy_.exchange(true, std::memory_order_acquire)) return false;
  const int sleeping = started_ ? sleepers_.load() : threads_ - 1;
  bool wake = false;
  if (sleeping > 0) {
    debt_nanoseconds_ += nanoseconds;
    wake = nanoseconds >= kWorthWaking || debt_nanoseconds_ >= kDebtLimit;
  }
  if (wake) {
    debt_nanoseconds_ = 0;
    if (!started_) start_workers();
    signal_.fetch_add(1);
    signal_.notify_all();
  }
  if (wake || sleeping < threads_ - 1) return true;
  busy_.store(false, std::memory_order_release);
  return false;
}

Executor::Team::Team(Executor& executor, int threads, int64_t nanoseconds) : executor_(executor) {
  const int helpers = (threads < executor.threads_ ? threads : executor.threads_) - 1;
  if (helpers > 0 && executor.acquire(nanoseconds)) helpers_ = helpers;
}

Executor::Team::~Team() {
  if (helpers_ > 0) executor_.busy_.store(false, std::memory_order_release);
}

void Executor::Team::run(int chunks, Work work, void* context) {
  if (helpers_ == 0 || chunks <= 1 || chunks > kMaxChunks) {
    for (int i = 0; i < chunks; ++i) work(context, i);
    return;
  }
  Executor& e = executor_;
  e.work_.store(work, std::memory_order_relaxed);
  e.context_.store(context, std::memory_order_relaxed);
  e.helpers_.store(helpers_, std::memory_order_relaxed);
  e.done_.store(0, std::memory_order_relaxed);
  e.taken_.store(0, std::memory_order_relaxed);
  e.state_.store(pack(++e.epoch_, chunks, 0), std::memory_order_release);
  while (e.claim(-1)) {
  }
  for (int spins = 0; e.done_.load(std::memory_order_acquire) < chunks; ++spins) {
    pause();
    if (spins > 4096) std::this_thread::yield();  // a worker lost its core in mid-chunk
  }
}

}  // namespace strew
