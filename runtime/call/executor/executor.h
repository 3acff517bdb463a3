// Executor: the pool of threads that the chunks of kernels' phases run on. It knows nothing of kernels.
//
// The caller always takes part, and takes every chunk itself if no worker comes: a sleeping, busy or missing worker costs speed, never
// progress. Chunks are claimed one by one, so a slow core does less, and each thread starts with its own share.
//
// fork(): the child has no workers of its parent. Its executors are as new (they start workers when work is worth it), whatever the pool
// was doing when the process forked; only a call that the forking thread itself was in the middle of is lost.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

namespace strew {

struct ExecutorOptions {
  int threads = 1;     ///< the most that work at a time, callers included: 1..Executor::kMaxThreads, whatever the machine has
  bool pins = false;   ///< each worker on a core of its own, as far as the affinity mask of the thread that starts them has cores
  bool waits = false;  ///< for tests: every team waits until its workers are awake, and its threads take chunks by turns
};

class Executor {
 public:
  /// One chunk of a phase. It runs on any thread of the pool, so it cannot throw: what it needs is allocated before the phase.
  using Work = void (*)(void* context, int chunk) noexcept;
  static constexpr int kMaxChunks = 32767;
  static constexpr int kMaxThreads = 1024;

  /// Workers start when first needed. The caller is never pinned.
  explicit Executor(const ExecutorOptions& options);
  explicit Executor(int threads, bool pins = false) : Executor(ExecutorOptions{threads, pins}) {}
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  int threads() const { return options_.threads; }

  /// The pool, borrowed for the phases of one call: which workers help is decided once. Callable from many threads and from inside a
  /// chunk: whoever finds the pool busy works alone.
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
  };

  /// A team for one phase.
  void run(int chunks, int threads, int64_t nanoseconds, Work work, void* context) {
    Team(*this, chunks > 1 ? threads : 1, nanoseconds).run(chunks, work, context);
  }

 private:
  static constexpr int kWord = 64;
  /// A set of workers: bit `id` % 64 of word `id` / 64.
  using Workers = std::array<std::atomic<uint64_t>, kMaxThreads / kWord>;
  struct Worker {
    Executor* executor;
    int id;
    pthread_t thread;
  };
  friend struct Forks;

  static uint64_t bit_of(int id) { return uint64_t{1} << (id % kWord); }
  int words() const { return (static_cast<int>(workers_.size()) + kWord - 1) / kWord; }
  bool has_seat(int id) const {
    return (seats_[static_cast<size_t>(id / kWord)].load(std::memory_order_relaxed) & bit_of(id)) != 0;
  }

  void start_workers();
  void work_as(int id);
  void sleep_as(int id);
  bool claim(int id);
  int rank(int id) const;
  int take(int id, int chunks);
  int awake_workers() const;
  int seat(int wanted, bool woken);
  int acquire(int wanted, int64_t nanoseconds);
  void wait_for_seated();
  void forget_workers();

  const ExecutorOptions options_;
  // One job at a time. state_: epoch (32 bits), chunks (16), next chunk (16). A claim is a compare-exchange of the whole word, so it
  // succeeds only on the job whose fields were read before it.
  alignas(64) std::atomic<uint64_t> state_{0};
  std::atomic<Work> work_{nullptr};
  std::atomic<void*> context_{nullptr};
  std::atomic<int> helpers_{0};
  Workers seats_{};  ///< the workers of the team that has the pool
  alignas(64) std::atomic<int> done_{0};
  std::atomic<uint64_t> taken_{0};            ///< bit per chunk, where there are at most 64
  enum Use : int { kFree, kTaken, kSeated };  ///< kTaken: by a team that has not given its seats yet
  alignas(64) std::atomic<int> busy_{kFree};
  std::atomic<uint32_t> signal_{0};
  std::atomic<bool> stop_{false};
  Workers awake_{};
  int64_t debt_nanoseconds_ = 0;  ///< guarded by busy_
  uint32_t epoch_ = 0;            ///< guarded by busy_
  int tries_ = 0;                 ///< guarded by busy_: wake-ups until the system is asked again for the threads it refused
  uint32_t forks_ = 0;            ///< forks between the process that made the executor and this one
  std::vector<Worker> workers_;   ///< never reallocated: workers hold their addresses
  Executor* next_ = nullptr;      ///< in the process's list, for fork()
};

}  // namespace strew
