// PhaseTrace: what calls did, for tests: which phases ran, in how many chunks, on how many threads.
//
// A test puts its trace into ExecutionLimits::trace. Without one a phase costs a comparison of a pointer that is in a register anyway.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/call/executor/executor.h"
#include "runtime/call/executor/limits.h"

namespace strew {

enum class PhaseKind : uint8_t {
  check,          ///< validating indices
  init,           ///< filling or copying the result
  whole,          ///< the range entry over everything, on the calling thread
  positions,      ///< strategy positions
  window,         ///< strategy window
  clip,           ///< strategy clip
  columns,        ///< strategies owner, radix, runs: a hot row's columns shared out
  owner,          ///< strategy owner: keys scanned, queues applied
  radix_count,    ///< strategy radix: keys made and counted, per block of positions
  radix_add,      ///< strategy radix: histograms summed
  radix_place,    ///< strategy radix: where each block's positions of a bucket go
  radix_scatter,  ///< strategy radix: positions written to their buckets
  radix_apply,    ///< strategy radix: every bucket applied
  runs,           ///< strategy runs
  private_apply,  ///< strategy private: a wave of tables
  private_merge,  ///< strategy private: the wave's tables combined into the result
  wide_start,     ///< wide accumulation: what follows converts operands of another dtype; no threads of its own
  wide_fold,      ///< what follows folds updates into accumulators as large as the result; no threads of its own
  wide_narrow,    ///< what follows rounds accumulators into the result; no threads of its own
  wide_sparse,    ///< widening, folding and rounding only what updates touch
};
inline constexpr int kPhaseKinds = static_cast<int>(PhaseKind::wide_sparse) + 1;
std::string_view name(PhaseKind kind);

class PhaseTrace {
 public:
  struct Step {
    PhaseKind kind;
    int chunks;   ///< that are not empty, as far as that is known beforehand
    int threads;  ///< that ran a chunk
  };
  const std::vector<Step>& steps() const { return steps_; }
  void add(const Step& step) { steps_.push_back(step); }
  void clear() { steps_.clear(); }

 private:
  std::vector<Step> steps_;
};

/// team.run(), and its trace: `busy` of the chunks are not empty.
void run_traced(Executor::Team& team, PhaseTrace& trace, PhaseKind kind, int chunks, int busy, Executor::Work work,
                void* context);
inline void run_phase(Executor::Team& team, const ExecutionLimits& limits, PhaseKind kind, int chunks, int busy,
                      Executor::Work work, void* context) {
  if (limits.trace == nullptr) return team.run(chunks, work, context);
  run_traced(team, *limits.trace, kind, chunks, busy, work, context);
}
inline void run_phase(Executor::Team& team, const ExecutionLimits& limits, PhaseKind kind, int chunks, Executor::Work work,
                      void* context) {
  run_phase(team, limits, kind, chunks, chunks, work, context);
}
/// Notes a step that the calling thread does itself, or what the next ones are part of.
inline void note_phase(const ExecutionLimits& limits, PhaseKind kind, int threads) {
  if (limits.trace != nullptr) limits.trace->add({kind, threads, threads});
}

}  // namespace strew
