// TuningResult: what a run of the tuner found: per op its candidates with their times, and the one that won. The report
// (tune/report) draws it, wisdom keeps it, and `strew tune` prints it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "strew/kernel_options.h"
#include "strew/schedule.h"

namespace strew::inline v0 {

/// A candidate and what became of it.
struct TunedCandidate {
  BackendChoice backend = BackendChoice::automatic;
  Schedule schedule;
  double predicted_ns = 0;  ///< by the cost model; 0: it has none for this backend
  int rounds = 0;           ///< measured ones
  double nanoseconds = 0;   ///< of a call: median
  /// Its time over that of the default in the same round: median, and the interval in which the true one lies with 95 %.
  double ratio = 1, ratio_low = 1, ratio_high = 1;
  bool is_measured = false;
  /// Measured again at the end, with the other fastest ones and the default. Only then are its numbers free of the luck of the fastest
  /// of many.
  bool is_confirmed = false;
  /// It was the fastest beyond noise, and was not when it was measured once more in turns with the default. Its numbers are of that second look.
  bool lost_second_look = false;
  bool is_busy =
      false;  ///< threads of ours waited for cores while it was measured: something else ran on the host (base/run_queue.h)
  std::string remark;  ///< if it was not measured to the end: why ("clearly slower", "wrong result: …", "crashed: signal 11")
};

/// "halide, prefetch=64": what a candidate has other than the default.
std::string difference(const TunedCandidate& candidate, const TunedCandidate& standard);

struct TunedOp {
  std::string name;                ///< the kernel's, in its file
  std::string op_text;             ///< as given
  std::string usage;               ///< as print(Usage) has it
  std::vector<std::string> notes;  ///< what was invented
  std::string failure;             ///< why the op could not be tuned; then there are no candidates
  int threads = 1;
  std::vector<TunedCandidate> candidates;  ///< in the order in which they were tried
  size_t default_at = 0;                   ///< the schedule that the cost model chooses: the reference of all ratios
  size_t winner_at = 0;                    ///< equal to default_at unless another one is faster beyond noise
  double memcpy_ns = 0;                    ///< of as many bytes as a call must move
  double limit_ns = 0;                     ///< what the machine's memory allows, by its costs
  int64_t bytes_moved = 0;
  double seconds = 0;  ///< that tuning took
  /// The budget ended before the fastest candidates had been compared with the default often enough: how many of `rounds_to_confirm` rounds
  /// there were, in the comparison of the fastest or in the winner's second look. -1: they had been.
  int undecided_after = -1, rounds_to_confirm = 0;
  bool is_stopped = false;  ///< the budget or the user ended it before the search was through
};

struct TuningResult {
  std::string machine;    ///< CPU, cores, caches
  std::string generator;  ///< versions of strew and LLVM
  std::string date;       ///< ISO 8601, UTC
  std::string mode;       ///< "estimate", "measure" or "exhaustive"
  uint64_t seed = 0;
  double budget_seconds = 0, seconds = 0;
  std::vector<TunedOp> ops;
  std::vector<std::string> problems;  ///< what went wrong beside the ops: wisdom that could not be read or kept
};

}  // namespace strew::inline v0
