// PhaseTrace: records which phases calls ran, in how many chunks and on how many threads. Tests read it.
//
// A test sets ExecutionLimits::trace. Without a trace, a phase costs one comparison of a pointer with null.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

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
  F(wide_sparse, "sparse widening: widens, folds and rounds only what updates reach")
enum class PhaseKind : uint8_t {
#define STREW_PHASE_KIND(kind, what) kind,
  STREW_PHASES(STREW_PHASE_KIND)
#undef STREW_PHASE_KIND
};
#define STREW_PHASE_ONE(kind, what) +1
inline constexpr int kPhaseKinds = STREW_PHASES(STREW_PHASE_ONE);
#undef STREW_PHASE_ONE
constexpr std::string_view name(PhaseKind kind) {
  constexpr std::string_view kNames[] = {
#define STREW_PHASE_NAME(kind, what) #kind,
      STREW_PHASES(STREW_PHASE_NAME)
#undef STREW_PHASE_NAME
  };
  return kNames[static_cast<size_t>(kind)];
}

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

/// Runs team.run() and adds its step to the trace; `busy` of the chunks are not empty.
void run_traced(Team& team, PhaseTrace& trace, PhaseKind kind, int chunks, int busy, Team::Work work, void* context);
inline void run_phase(Team& team, const ExecutionLimits& limits, PhaseKind kind, int chunks, int busy, Team::Work work,
                      void* context) {
  if (limits.trace == nullptr) return team.run(chunks, work, context);
  run_traced(team, *limits.trace, kind, chunks, busy, work, context);
}
inline void run_phase(Team& team, const ExecutionLimits& limits, PhaseKind kind, int chunks, Team::Work work, void* context) {
  run_phase(team, limits, kind, chunks, chunks, work, context);
}
/// Adds a step that the calling thread runs itself, or that the next steps are part of.
inline void note_phase(const ExecutionLimits& limits, PhaseKind kind, int threads) {
  if (limits.trace != nullptr) limits.trace->add({kind, threads, threads});
}

}  // namespace strew::inline v0
