// A phase of a call: one entry over a range of work, cut into chunks that a team of threads runs.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/call/callable.h"
#include "runtime/call/executor/trace.h"

namespace strew::inline v0 {

/// Cuts a range of work into chunks of nearly equal size whose inner borders are multiples of a unit. The unit keeps each 64-byte line of the
/// result in one chunk, so threads do not share lines (false sharing) where chunks cut through contiguous memory.
struct Split {
  int64_t total = 0;
  int64_t unit = 1;  ///< >= 1
  int chunks = 1;    ///< >= 1; some are empty if there are fewer units than chunks

  int64_t units() const { return total / unit + (total % unit != 0); }
  /// How many chunks are not empty.
  int busy() const { return static_cast<int>(std::min<int64_t>(units(), chunks)); }
  /// Chunk i is [border(i), border(i + 1)).
  int64_t border(int i) const {
    const int64_t count = units(), each = count / chunks, more = count % chunks;
    const int64_t start = each * i + std::min<int64_t>(i, more);
    return start >= count ? total : start * unit;
  }
};

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
