// A phase of a call: one entry over a range of work, cut into chunks that a team of threads runs.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/call/callable.h"
#include "runtime/call/executor/trace.h"
#include "runtime/call/strategies/split.h"

namespace strew::inline v0 {

/// The axis along which a phase is cut. `work`: the argument range of the entry, which is index positions or init elements. `window`:
/// iterations of the first window loop; every chunk visits all positions. `destinations`: coordinates of the operand dim that the first
/// window loop moves; every chunk visits all positions, but writes only inside its range.
enum class Axis : uint8_t { work, window, destinations };

/// An entry, with the range and the axis along which it is cut. The run sets `split.chunks`.
struct Phase {
  PhaseKind kind;
  strew_entry entry;
  const strew_args& args;
  Split split;
  Axis axis = Axis::work;
  int64_t positions = 0;  ///< index positions of the call, for the axes window and destinations
};

/// Runs the phase on a team that has help, with one chunk or more per thread. Returns false if a chunk reported a fault; `fault` is then
/// the first by position.
bool run_chunks(Team& team, const ExecutionLimits& limits, const Phase& phase, strew_fault* fault);
/// The same on a new team if the work is worth several threads, else in one piece. For the axes work and window.
bool run_split(const Callable& callable, const Call& call, const Phase& phase, Nanoseconds alone, strew_fault* fault);

/// How many threads so many nanoseconds of one thread are worth (CallCosts::thread_time).
int threads_for(Nanoseconds work, int most, const ExecutionLimits& limits);

}  // namespace strew::inline v0
