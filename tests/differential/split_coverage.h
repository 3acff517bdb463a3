// SplitCoverage: counts which strategy ran on how many threads, under which policy, on which dtype; and which phase
// ran on how many threads.
//
// It counts what Kernel::run did: the executor's trace tells which phases a call had, and how many threads ran a
// chunk of each (runtime/call/executor/phases.h). A call that fell back to one thread counts as a call on one thread.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/plan/plan.h"
#include "runtime/call/executor/phases.h"
#include "schedules/schedule.h"
#include "strew/op.h"

namespace strew::test {

/// The numbers of threads that every strategy and phase must run with.
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
std::string text(const SplitCell& cell);  ///< without the number of threads
/// Every cell that is legal for some op. `threads` is 1 in all of them, because each op runs with every number of
/// threads.
const std::vector<SplitCell>& legal_splits();

/// Every phase that uses threads. They need not run on one thread: a call that gets one thread runs no phase of a
/// strategy.
const std::vector<PhaseKind>& legal_phases();

/// On how many threads a call ran the kernel's `strategy`, by its trace. 0: it ran no phase of the strategy, because
/// it had nothing to do or too little work for two chunks.
int threads_of(std::span<const PhaseTrace::Step> steps, Strategy strategy);

class SplitCoverage {
 public:
  void ran(const SplitCell& cell) { ++calls_[cell]; }
  /// Counts every phase of a call. A stage of wide accumulation counts with the number of threads of its phases.
  void ran(std::span<const PhaseTrace::Step> steps);
  /// Has the cell run with every number of threads?
  bool has(SplitCell cell) const;
  bool has(PhaseKind phase) const;
  /// The counts as lines of text, and the reverse: merge() adds the counts of another process.
  std::string write() const;
  void merge(const std::string& written);
  /// Per strategy and number of threads: how many of the legal cells (scatter or gather, policy, dtype) ran, and
  /// calls. Then calls per phase and number of threads.
  std::string table() const;
  std::vector<std::string> empty_cells() const;

 private:
  std::map<SplitCell, int64_t> calls_;
  std::map<std::pair<PhaseKind, int>, int64_t> phases_;
};

}  // namespace strew::test
