// ThreadPool: strew's own Executor. It knows nothing of kernels.
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
#include <cstdint>
#include <memory>

#include "base/units.h"
#include "runtime/call/executor/share.h"
#include "runtime/call/executor/team.h"
#include "runtime/call/executor/worker_set.h"
#include "strew/executor.h"

namespace strew::inline v0 {

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
