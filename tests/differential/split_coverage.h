// Coverage of the splits: which strategy ran on how many threads, under which policy, on which dtype; and which phase on how many threads.
//
// Counts what Kernel::run did: the executor's trace says which phases a call had and how many threads ran a chunk of each
// (runtime/call/executor/trace.h). A call that fell back to one thread counts as one of one thread.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/plan/plan.h"
#include "runtime/call/executor/trace.h"
#include "schedules/schedule.h"
#include "strew/op.h"

namespace strew::test {

/// The thread counts every strategy and phase is tried with.
inline constexpr int kThreadCounts[] = {1, 2, 3, 5, 8};
inline constexpr int kMostThreads = 8;

struct SplitCell {
  Strategy strategy = Strategy::sequential;
  int threads = 1;
  bool gather = false;
  OobPolicy oob = OobPolicy::undefined;
  DType dtype = DType::f32;
  auto operator<=>(const SplitCell&) const = default;
};
std::string text(const SplitCell& cell);  ///< without the threads
/// Every cell that some op is legal in; `threads` is 1 in all of them: one op runs with every count.
const std::vector<SplitCell>& legal_splits();

/// Every phase that has threads. One thread is not asked of them: where a call has no help it takes no phase of a strategy.
const std::vector<PhaseKind>& legal_phases();

/// How many threads a kernel of `strategy` really ran on, by the trace of one call. 0: it took a way that tells nothing of the strategy, as
/// calls do that have nothing to do, or too little for two chunks.
int threads_of(std::span<const PhaseTrace::Step> steps, Strategy strategy);

class SplitCoverage {
 public:
  void ran(const SplitCell& cell) { ++calls_[cell]; }
  /// Every phase of a call. The stages of a wide accumulation count with the threads of the phases they consist of.
  void ran(std::span<const PhaseTrace::Step> steps);
  /// With every number of threads?
  bool has(SplitCell cell) const;
  bool has(PhaseKind phase) const;
  /// As lines of text, and back: adds what another process counted.
  std::string write() const;
  void merge(const std::string& written);
  /// Per strategy and thread count: cells (scatter or gather, policy, dtype) covered of those legal; calls. Then calls per phase and thread count.
  std::string table() const;
  std::vector<std::string> empty_cells() const;

 private:
  std::map<SplitCell, int64_t> calls_;
  std::map<std::pair<PhaseKind, int>, int64_t> phases_;
};

}  // namespace strew::test
