// ThreadPool: strew's own Executor, which knows nothing of kernels; and Team: the threads on which the phases of one call run, of this pool or of
// an executor of the host.
//
// The caller always takes part, and takes every chunk itself if no worker comes: a worker that sleeps, is busy or cannot be
// started costs speed, never progress. Each thread begins with its own share of the chunks, the same one for every phase of
// equal shape, so that it finds its part of the result in its own cache and on its own memory node; a thread that has
// finished helps the others. Calls from several threads divide the pool: each takes workers that are free.
//
// fork(): the child has no workers of its parent. Its pools are as new (they start workers when work is worth it), whatever
// the pool was doing when the process forked; only a call that the forking thread itself was in the middle of is lost.
// Tested by tests/unit/runtime/call/executor/executor_test.cc, also under ThreadSanitizer.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>

#include "base/machine.h"
#include "base/units.h"
#include "strew/executor.h"

namespace strew::inline v0 {

/// The chunks of a phase that are assigned to one thread, its owner. The owner takes chunks from the front; threads that have finished their own
/// share steal from the back. Each share is on cache lines of its own, so until somebody steals, its owner shares no line with other threads.
/// Tested by tests/unit/runtime/call/executor/share_test.cc.
class alignas(128) Share {  // two lines, because processors fetch them in pairs
 public:
  /// Sets the chunks to [begin, end). Must be called before other threads can see the share.
  void set(int begin, int end) { left_.store(pack(begin, end), std::memory_order_relaxed); }
  /// Take a chunk, which no other thread gets, from the front or from the back. -1: none is left.
  int take_first() {
    uint64_t left = left_.load(std::memory_order_relaxed);
    while (begin_of(left) < end_of(left))
      if (left_.compare_exchange_weak(left, left + 1, std::memory_order_relaxed)) return begin_of(left);
    return -1;
  }
  int take_last() {
    uint64_t left = left_.load(std::memory_order_relaxed);
    while (begin_of(left) < end_of(left))
      if (left_.compare_exchange_weak(left, left - (uint64_t{1} << 32), std::memory_order_relaxed)) return end_of(left) - 1;
    return -1;
  }

 private:
  static uint64_t pack(int begin, int end) { return static_cast<uint64_t>(end) << 32 | static_cast<uint32_t>(begin); }
  static int begin_of(uint64_t left) { return static_cast<int>(left & 0xffffffff); }
  static int end_of(uint64_t left) { return static_cast<int>(left >> 32); }

  std::atomic<uint64_t> left_{0};
};

/// A set of worker numbers, from which many threads take members and to which they return them without a lock.
class WorkerSet {
 public:
  static constexpr int kMost = kMostThreads;  ///< worker numbers are smaller than this

  /// Takes up to `wanted` members, the smallest, and appends them to `ids`. Returns how many it took.
  int take(int wanted, uint16_t* ids) {
    int taken = 0;
    for (size_t word = 0; word < kWords && taken < wanted; ++word) {
      uint64_t here = words_[word].load(std::memory_order_relaxed);
      if (here == 0) continue;
      uint64_t want = 0;
      for (int n = taken; here != 0 && n < wanted; ++n, here &= here - 1) want |= here & (~here + 1);
      uint64_t got = words_[word].fetch_and(~want, std::memory_order_seq_cst) & want;
      for (; got != 0; got &= got - 1)
        ids[taken++] = static_cast<uint16_t>(word * 64 + static_cast<size_t>(std::countr_zero(got)));
    }
    return taken;
  }
  /// Removes `id`. Returns false if it was not in the set.
  bool remove(int id) { return (word_of(id).fetch_and(~bit_of(id), std::memory_order_seq_cst) & bit_of(id)) != 0; }
  void add(int id) { word_of(id).fetch_or(bit_of(id), std::memory_order_seq_cst); }
  /// Adds `ids`, which must ascend.
  void add(const uint16_t* ids, int count) {
    for (int i = 0; i < count;) {
      const int word = ids[i] / 64;
      uint64_t bits = 0;
      for (; i < count && ids[i] / 64 == word; ++i) bits |= bit_of(ids[i]);
      words_[static_cast<size_t>(word)].fetch_or(bits, std::memory_order_seq_cst);
    }
  }
  void clear() {
    for (auto& word : words_) word.store(0);
  }

 private:
  static constexpr size_t kWords = kMost / 64;
  static uint64_t bit_of(int id) { return uint64_t{1} << (id % 64); }
  std::atomic<uint64_t>& word_of(int id) { return words_[static_cast<size_t>(id / 64)]; }

  std::array<std::atomic<uint64_t>, kWords> words_{};
};

/// The threads on which the phases of one call run. Of our own thread pool, a team borrows workers once for all phases of the call; on an
/// executor of the host, each phase is one parallel_for().
class Team {
 public:
  /// One chunk of a phase. It runs on any thread, so it cannot throw: what it needs is allocated before the phase.
  using Work = Executor::Task;

  /// `threads`: the most that are wanted. `work`: what one thread would need for all phases; it decides whether waking
  /// workers pays. A team may be made on any thread, also inside a chunk: if no worker is free, the caller works alone.
  Team(Executor& executor, int threads, Nanoseconds work);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// False if the caller does all chunks. Then an algorithm for one thread is the better choice.
  bool has_help() const { return helpers_ > 0; }
  /// How many threads work: the caller and its helpers. Work is cut for this many. At most the threads wanted.
  int threads() const { return helpers_ + 1; }
  /// work(context, i) once for each i in [0, chunks); returns when all are done. No chunk waits for another.
  void run(int chunks, Work work, void* context);
  /// The same with work(i). It runs on other threads, where it cannot throw.
  template <class Chunk>
  void run(int chunks, const Chunk& work) {
    run(
        chunks, [](void* of, int chunk) noexcept { (*static_cast<const Chunk*>(of))(chunk); }, const_cast<Chunk*>(&work));
  }

 private:
  ThreadPool* const pool_;  ///< null: the host's executor
  Executor& executor_;
  int helpers_ = 0;
  uint32_t forks_ = 0;
  std::array<uint16_t, kMostThreads> ids_;  ///< of the helpers, ascending; only these are filled
};

/// Runs the chunks of a phase on an executor of the host program (strew/executor.h): work(context, i) once for each i in [0, chunks); returns
/// when all are done. See host_executor.cc.
void run_on_host(Executor& host, int chunks, Executor::Task work, void* context);

struct ThreadPoolOptions {
  int threads = 1;    ///< the most that work at a time, callers included: 1..ThreadPool::kMaxThreads, whatever the machine has
  bool pins = false;  ///< each worker on a core of its own, as far as the affinity mask of the thread that starts them has cores
  bool waits =
      false;  ///< for tests: every team gets all its workers and waits for them, and each thread does its own share alone
  int spin_microseconds = 1000;  ///< how long a worker without work waits on its core before it sleeps
};

class ThreadPool final : public Executor {
 public:
  static constexpr int kMaxThreads = WorkerSet::kMost;

  /// Workers start when first needed. The caller is never pinned.
  explicit ThreadPool(const ThreadPoolOptions& options);
  explicit ThreadPool(int threads, bool pins = false) : ThreadPool(ThreadPoolOptions{threads, pins}) {}
  ~ThreadPool() override;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const noexcept override { return options_.threads; }
  void parallel_for(int count, Task task, void* context) override;

  /// A team for one loop. `time`: what one thread would need for all chunks.
  void run(Chunks chunks, int threads, Nanoseconds time, Task work, void* context) {
    Team(*this, chunks > Chunks(1) ? threads : 1, time).run(chunks.count(), work, context);
  }

 private:
  friend class Team;
  ThreadPool* thread_pool() noexcept override { return this; }

  /// A phase that is running. Lives on its caller's stack.
  struct Job {
    Task work;
    void* context;
    int threads;
    const uint16_t* ids;
    alignas(128) std::atomic<int> beginning;  ///< threads that have not yet come to the end of their own share
    Share callers;
  };
  enum State : uint32_t {
    kIdle,     ///< spins, then sleeps; a member of idle_, or about to be
    kAsleep,   ///< a member of asleep_, or just taken from it
    kSeated,   ///< in a team, between phases
    kPosted,   ///< there is a job for it
    kRunning,  ///< it works on the job
    kDone,     ///< ... and has finished
    kStop,     ///< it is to end
  };
  /// A worker. The line that it watches is its own: nobody else reads it but its team's caller, and threads that take from its share.
  struct Seat {
    Share share;
    std::atomic<uint32_t> state{kIdle};
    int rank = 0;                      ///< in its team; the caller is 0
    Job* job = nullptr;                ///< written before kPosted
    std::array<int, 2> wakes{-1, -1};  ///< workers that it wakes when it is woken: many are woken along a tree
    int core_of_caller = -1;           ///< when it was woken last
    ThreadPool* pool = nullptr;
    pthread_t thread{};
  };
  friend struct Forks;

  void run_on(const uint16_t* ids, int helpers, uint32_t forks, Chunks chunks, Task work, void* context);
  void give_back(const uint16_t* ids, int helpers, uint32_t forks);
  int acquire(int wanted, Nanoseconds work, uint16_t* ids);
  bool has_free_worker() const;
  int start_workers(int wanted, uint16_t* ids);
  void wake(const uint16_t* ids, int count);
  void notify(int id);
  void work_as(int id);
  void sleep_as(int id);
  void take_part(Job& job, int rank);
  void await(Seat& seat, uint32_t forks);
  void forget_workers();

  const ThreadPoolOptions options_;
  std::unique_ptr<Seat[]> seats_;  // NOLINT(modernize-avoid-c-arrays): workers hold their addresses
  alignas(64) WorkerSet idle_;     ///< workers that are awake and in no team
  alignas(64) WorkerSet asleep_;
  alignas(64) std::atomic<int> started_{0};  ///< workers that exist: [0, started_)
  std::atomic<bool> starting_{false};        ///< somebody is starting workers
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> debt_ns_{0};
  std::atomic<int> tries_{0};   ///< wake-ups until the system is asked again for the threads it refused
  uint32_t forks_ = 0;          ///< forks between the process that made the pool and this one
  ThreadPool* next_ = nullptr;  ///< in the process's list, for fork()
};

}  // namespace strew::inline v0
