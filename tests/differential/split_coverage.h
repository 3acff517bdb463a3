// Coverage of the splits: which strategy ran with how many threads, under which policy, on which dtype.
//
// Counts calls in pieces of compiled kernels (split_run.h), where the number of threads is what the call asks for, not what a small call
// is worth.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/op/op.h"
#include "compiler/plan/plan.h"
#include "schedules/schedule.h"

namespace strew::test {

/// The thread counts every strategy is tried with.
inline constexpr int kThreadCounts[] = {1, 2, 3, 8};

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

class SplitCoverage {
 public:
  void ran(const SplitCell& cell) { ++calls_[cell]; }
  /// With every number of threads?
  bool has(SplitCell cell) const;
  /// As lines of text, and back: adds what another process counted.
  std::string write() const;
  void merge(const std::string& written);
  /// Per strategy and thread count: cells (scatter or gather, policy, dtype) covered of those legal; calls.
  std::string table() const;
  std::vector<std::string> empty_cells() const;

 private:
  std::map<SplitCell, int64_t> calls_;
};

}  // namespace strew::test
