// The phases of a call: check all indices (policy error), initialise the result, apply the updates. A phase is one entry over a range of work, cut
// into chunks that a team of threads runs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/call/callable.h"
#include "runtime/call/descriptor.h"
#include "runtime/call/executor/limits.h"
#include "runtime/call/executor/thread_pool.h"

namespace strew::inline v0 {

// The kinds of phases: STREW_PHASES(F) expands to F(kind, what its threads do) for each.
#define STREW_PHASES(F)                                                                                              \
  F(check, "validating indices")                                                                                     \
  F(init, "filling or copying the result")                                                                           \
  F(whole, "the range entry over everything, on the calling thread")                                                 \
  F(positions, "strategy positions")                                                                                 \
  F(window, "strategy window")                                                                                       \
  F(clip, "strategy clip")                                                                                           \
  F(columns, "strategies owner, radix, runs: chunks of the columns of all windows, where few rows are hot")          \
  F(owner, "strategy owner: scans keys and applies queues")                                                          \
  F(radix_count, "strategy radix: makes and counts the keys of a block of positions")                                \
  F(radix_add, "strategy radix: sums histograms")                                                                    \
  F(radix_place, "strategy radix: computes where the positions of each block and bucket go")                         \
  F(radix_scatter, "strategy radix: writes positions to their buckets")                                              \
  F(radix_apply, "strategy radix: applies the buckets")                                                              \
  F(runs, "strategy runs")                                                                                           \
  F(private_apply, "strategy private: fills a wave of tables")                                                       \
  F(private_merge, "strategy private: combines the wave's tables with the result")                                   \
  F(wide_start, "wide accumulation: the next phases convert operands of another dtype; has no threads of its own")   \
  F(wide_fold, "wide accumulation: the next phases fold updates into whole accumulators; has no threads of its own") \
  F(wide_narrow, "wide accumulation: the next phases round accumulators into the result; has no threads of its own") \
  F(wide_sparse, "sparse widening: widens, folds and rounds only what updates reach")                                \
  F(wide_order, "wide accumulation: looks whether destinations are sorted")                                          \
  F(wide_sums, "wide accumulation: the next phases sum rows in registers; has no threads of its own")
enum class PhaseKind : uint8_t {
#define STREW_PHASE_KIND(kind, what) kind,
  STREW_PHASES(STREW_PHASE_KIND)
#undef STREW_PHASE_KIND
};
constexpr std::string_view name(PhaseKind kind) {
  constexpr std::string_view kNames[] = {
#define STREW_PHASE_NAME(kind, what) #kind,
      STREW_PHASES(STREW_PHASE_NAME)
#undef STREW_PHASE_NAME
  };
  return kNames[static_cast<size_t>(kind)];
}

/// Records which phases calls ran, in how many chunks and on how many threads. Tests read it; they set ExecutionLimits::trace. Without a trace, a
/// phase costs one comparison of a pointer with null.
class PhaseTrace {
 public:
  struct Step {
    PhaseKind kind;
    int chunks;   ///< chunks that are not empty, as far as that is known in advance
    int threads;  ///< threads that ran at least one chunk
  };
  const std::vector<Step>& steps() const { return steps_; }
  void add(const Step& step) { steps_.push_back(step); }
  void clear() { steps_.clear(); }

 private:
  std::vector<Step> steps_;
};

/// team.run(chunks, work). Returns how many threads ran a chunk.
int count_threads(Team& team, int chunks, const std::function<void(int)>& work);
/// Runs team.run(chunks, work) and adds its step to the trace, if there is one. `busy`: chunks that are not empty; absent: all
template <class Chunk>
void run_phase(Team& team, const ExecutionLimits& limits, PhaseKind kind, int chunks, const Chunk& work,
               std::optional<int> busy = std::nullopt) {
  if (limits.trace == nullptr) return team.run(chunks, work);
  limits.trace->add({kind, busy.value_or(chunks), count_threads(team, chunks, std::cref(work))});
}
/// Adds a step that the calling thread runs itself, or that the next steps are part of.
inline void note_phase(const ExecutionLimits& limits, PhaseKind kind, int threads) {
  if (limits.trace != nullptr) limits.trace->add({kind, threads, threads});
}

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

/// Runs the phase on a team that has help, with one chunk or more per thread. The first fault by position, if a chunk reported one.
std::optional<strew_fault> run_chunks(Team& team, const ExecutionLimits& limits, const Phase& phase);
/// The same on a new team if the work is worth several threads, else in one piece. For the axes work and window.
std::optional<strew_fault> run_split(const Callable& callable, const Call& call, const Phase& phase, Nanoseconds alone);

/// How many threads so many nanoseconds of one thread are worth (CallCosts::thread_time).
int threads_for(Nanoseconds work, int most, const ExecutionLimits& limits);

/// Under policy error, checks all indices before anything is written. Does nothing under other policies.
Status check_indices(const Callable& callable, std::span<const TensorView> tensors, const Call& call, BadIndex* bad_index);
/// With init copy or fill, writes the initial result, unless its buffer is the operand's. Does nothing otherwise.
void make_result(const Callable& callable, const Call& call);

/// Runs all phases of a call that is bound. On out_of_bounds nothing was written, and `bad_index`, if given, has the details.
Status run_phases(const Callable& callable, std::span<const TensorView> tensors, const Call& call, BadIndex* bad_index);
/// Of the windows of one position, in the result.
inline EstimatedBytes window_bytes(const Callable& callable, const Call& call) {
  return EstimatedBytes(static_cast<double>(call.window) * static_cast<double>(callable.result_bytes));
}
/// The nanoseconds that one thread would need for the updates, roughly. The table's shape need not be known.
inline double apply_nanoseconds(const Callable& callable, const Call& call) {
  return callable.costs.of_windows(call.positions, window_bytes(callable, call), callable.table_bytes);
}

/// Do so many bytes, written by so many threads, exceed the last-level cache, with the bytes that they come from? Then stores that bypass the
/// caches are faster.
inline bool exceeds_cache(Bytes bytes, int threads, Bytes cache) { return bytes / threads * 2 > cache / 2; }
/// Bytes of the indexed tensor with these extents; saturates, also where an extent is STREW_OPEN.
Bytes table_bytes(const strew_kernel& kernel, const int64_t* dims);
inline Bytes table_bytes(const strew_kernel& kernel, std::span<const TensorView> tensors) {
  return table_bytes(kernel, tensors[table_of(kernel)].dims);
}

/// The error for an index that policy error refuses.
[[gnu::cold]] Status bad_index_error(const strew_kernel& kernel, std::span<const TensorView> tensors, const strew_fault& found,
                                     BadIndex* bad_index);

}  // namespace strew::inline v0
