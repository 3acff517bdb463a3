// A phase of a call: one entry over a range of work, cut into chunks that a team of threads takes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/call/callable.h"
#include "runtime/call/executor/trace.h"
#include "runtime/call/strategies/split.h"

namespace strew {

/// What the chunks of a phase are ranges of: the entry's own work, or, over all positions, the first window loop or the operand dim that
/// moves it.
enum class Axis : uint8_t { work, window, destinations };

/// An entry, and what its chunks are cut from. `split.chunks` is left to the run.
struct Phase {
  PhaseKind kind;
  strew_entry entry;
  const strew_args& args;
  Split split;
  Axis axis = Axis::work;
  int64_t positions = 0;  ///< of the call, for the axes window and destinations
};

/// Runs the phase on a team that has help, one chunk and more per thread. False: `fault` is the first one, by position.
bool run_chunks(Executor::Team& team, const ExecutionLimits& limits, const Phase& phase, strew_fault* fault);
/// The same where the work is worth threads, else in one piece. Axis work or window.
bool run_split(const Callable& callable, const Phase& phase, int64_t nanoseconds, strew_fault* fault);

/// What one thread would need, roughly, in nanoseconds; and how many threads that is worth.
inline int64_t estimate(int64_t positions, int64_t bytes) {
  // 16 bytes of hot data per nanosecond, a few nanoseconds per position. Saturates.
  constexpr int64_t kMost = int64_t{1} << 40;
  return std::min(positions, kMost / 2) * 2 + std::min(bytes, kMost) / 16;
}
int threads_for(int64_t nanoseconds, int most, const ExecutionLimits& limits = kDefaultLimits);

}  // namespace strew
