// Executor: the pool of threads that kernels' chunks run on. It knows nothing of kernels.
//
// The caller always takes part, and takes every chunk itself if no worker comes: a sleeping, busy or missing worker costs speed, never
// progress. Chunks are claimed one by one, so a slow core does less, and each thread from its own share on.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace strew {

class Executor {
 public:
  using Work = void (*)(void* context, int chunk);
  static constexpr int kMaxChunks = 32767;

  /// `threads`: the most that work at a time, callers included. Workers start when first needed. `pins`: each on a core of its own, as far
  /// as the affinity mask of the thread that starts them has cores; the caller is left where it is.
  explicit Executor(int threads, bool pins = false);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  int threads() const { return threads_; }

  /// The pool, borrowed for the phases of one call: whether workers come is decided once. Callable from many threads and from inside a
  /// chunk: whoever finds the pool busy works alone.
  class Team {
   public:
    /// `nanoseconds`: what one thread would need for all phases, the reason to wake workers or not to.
    Team(Executor& executor, int threads, int64_t nanoseconds);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    /// False: nobody comes, the caller does all chunks. The time to choose an algorithm that fits one thread.
    bool has_help() const { return helpers_ > 0; }
    /// work(context, i) once for each i in [0, chunks), on the team's threads; returns when all are done.
    void run(int chunks, Work work, void* context);

   private:
    Executor& executor_;
    int helpers_ = 0;
  };

  /// A team for one phase.
  void run(int chunks, int threads, int64_t nanoseconds, Work work, void* context) {
    Team(*this, chunks > 1 ? threads : 1, nanoseconds).run(chunks, work, context);
  }

 private:
  void start_workers();
  void worker(int id);
  bool claim(int id);
  int pick(int id, int chunks);
  bool acquire(int64_t nanoseconds);

  const int threads_;
  const bool pins_;
  // One job at a time. state_: epoch (32 bits), chunks (16), next chunk (16). A claim is a compare-exchange of the whole word, so it
  // succeeds only on the job whose fields were read before it.
  alignas(64) std::atomic<uint64_t> state_{0};
  std::atomic<Work> work_{nullptr};
  std::atomic<void*> context_{nullptr};
  std::atomic<int> helpers_{0};
  alignas(64) std::atomic<int> done_{0};
  std::atomic<uint64_t> taken_{0};  ///< bit per chunk, where there are at most 64
  alignas(64) std::atomic<bool> busy_{false};
  std::atomic<int> sleepers_{0};
  std::atomic<uint32_t> signal_{0};
  std::atomic<bool> stop_{false};
  int64_t debt_nanoseconds_ = 0;  ///< guarded by busy_
  uint32_t epoch_ = 0;            ///< guarded by busy_
  bool started_ = false;          ///< guarded by busy_
  std::vector<std::thread> workers_;
};

}  // namespace strew
