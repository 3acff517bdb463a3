// Executor: the pool of threads that the chunks of kernels' phases run on. It knows nothing of kernels.
//
// The caller always takes part, and takes every chunk itself if no worker comes: a sleeping, busy or missing worker costs speed, never
// progress. Each thread begins with its own share of the chunks, the same one for every phase of equal shape, so that it finds its part of
// the result in its own cache and on its own memory node; a thread that has finished helps the others.
//
// Calls from several threads divide the pool: each takes workers that are free.
//
// fork(): the child has no workers of its parent. Its executors are as new (they start workers when work is worth it), whatever the pool
// was doing when the process forked; only a call that the forking thread itself was in the middle of is lost.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "runtime/call/executor/share.h"
#include "runtime/call/executor/worker_set.h"

namespace strew::inline v0 {

struct ExecutorOptions {
  int threads = 1;    ///< the most that work at a time, callers included: 1..Executor::kMaxThreads, whatever the machine has
  bool pins = false;  ///< each worker on a core of its own, as far as the affinity mask of the thread that starts them has cores
  bool waits =
      false;  ///< for tests: every team gets all its workers and waits for them, and each thread does its own share alone
  int spin_microseconds = 1000;  ///< how long a worker without work waits on its core before it sleeps
};

class Executor {
 public:
  /// One chunk of a phase. It runs on any thread of the pool, so it cannot throw: what it needs is allocated before the phase.
  using Work = void (*)(void* context, int chunk) noexcept;
  static constexpr int kMaxThreads = WorkerSet::kMost;

  /// Workers start when first needed. The caller is never pinned.
  explicit Executor(const ExecutorOptions& options);
  explicit Executor(int threads, bool pins = false) : Executor(ExecutorOptions{threads, pins}) {}
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  int threads() const { return options_.threads; }

  /// Workers borrowed for the phases of one call: which ones help is decided once. Callable from many threads and from inside a chunk:
  /// whoever finds no worker free works alone.
  class Team {
   public:
    /// `threads`: the most that are wanted. `nanoseconds`: what one thread would need for all phases, the reason to wake workers or not to.
    Team(Executor& executor, int threads, int64_t nanoseconds);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    /// False: nobody comes, the caller does all chunks. The time to choose an algorithm that fits one thread.
    bool has_help() const { return helpers_ > 0; }
    /// How many threads work: the caller and the workers that are awake or being woken. At most the threads wanted. Work is cut for this many.
    int threads() const { return helpers_ + 1; }
    /// work(context, i) once for each i in [0, chunks), on the team's threads; returns when all are done.
    void run(int chunks, Work work, void* context);

   private:
    Executor& executor_;
    int helpers_ = 0;
    uint32_t forks_;
    std::array<uint16_t, kMaxThreads> ids_;  ///< of the helpers, ascending; only these are filled
  };

  /// A team for one phase.
  void run(int chunks, int threads, int64_t nanoseconds, Work work, void* context) {
    Team(*this, chunks > 1 ? threads : 1, nanoseconds).run(chunks, work, context);
  }

 private:
  /// A phase that is running. Lives on its caller's stack.
  struct Job {
    Work work;
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
    Executor* executor = nullptr;
    pthread_t thread{};
  };
  friend struct Forks;

  int acquire(int wanted, int64_t nanoseconds, uint16_t* ids);
  bool has_free_worker() const;
  int start_workers(int wanted, uint16_t* ids);
  void wake(const uint16_t* ids, int count);
  void notify(int id);
  void work_as(int id);
  void sleep_as(int id);
  void take_part(Job& job, int rank);
  void await(Seat& seat, uint32_t forks);
  void forget_workers();

  const ExecutorOptions options_;
  std::unique_ptr<Seat[]> seats_;  // NOLINT(modernize-avoid-c-arrays): workers hold their addresses
  alignas(64) WorkerSet idle_;     ///< workers that are awake and in no team
  alignas(64) WorkerSet asleep_;
  alignas(64) std::atomic<int> started_{0};  ///< workers that exist: [0, started_)
  std::atomic<bool> starting_{false};        ///< somebody is starting workers
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> debt_nanoseconds_{0};
  std::atomic<int> tries_{0};  ///< wake-ups until the system is asked again for the threads it refused
  uint32_t forks_ = 0;         ///< forks between the process that made the executor and this one
  Executor* next_ = nullptr;   ///< in the process's list, for fork()
};

}  // namespace strew::inline v0
