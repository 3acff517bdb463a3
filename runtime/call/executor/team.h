// Team: the threads on which the phases of one call run. Of our own thread pool, a team borrows workers once for all phases
// of the call; on an executor of the host, each phase is one parallel_for().
#pragma once

#include <array>
#include <cstdint>

#include "base/units.h"
#include "runtime/call/executor/worker_set.h"
#include "strew/executor.h"

namespace strew::inline v0 {

class ThreadPool;

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

 private:
  ThreadPool* const pool_;  ///< null: the host's executor
  Executor& executor_;
  int helpers_ = 0;
  uint32_t forks_ = 0;
  std::array<uint16_t, WorkerSet::kMost> ids_;  ///< of the helpers, ascending; only these are filled
};

}  // namespace strew::inline v0
