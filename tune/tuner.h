// The tuner: finds the fastest schedule of each of several ops by measuring, within a budget of time that it gives to the ops from
// which it expects the most.
//
// Each op is a search (search.h) that goes on by waves. First every op gets one wave, those that matter most first; then always the op
// whose last wave gained the most time per second of tuning, counted over all of its calls. What remains of the budget confirms the
// winners. Tested by tests/unit/tune/tuner_test.cc.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tune/recorded_stopwatch.h"
#include "tune/search.h"
#include "tune/tuning_result.h"
#include "tune/tuning_task.h"

namespace strew::inline v0 {

/// For progress bars: where the tuner is.
struct TuningProgress {
  std::string_view op;
  size_t op_number = 0, ops = 0;
  size_t candidates = 0;  ///< of this op, so far
  double best_ratio = 1;  ///< of its fastest one to its default
  double best_ns = 0;
  double seconds = 0, budget_seconds = 0;
};

struct TunerSettings {
  SearchMode mode = SearchMode::measure;
  uint64_t seed = 1;
  double budget_seconds = 0;  ///< for all ops; 0: kSecondsPerOp for each, and no limit in mode exhaustive
  bool isolate = false;       ///< tries each new kind of kernel in a child process first
  int64_t max_bytes = 0;      ///< of the data of all ops that are held at a time; 0: a quarter of the machine's memory
  std::string timings_file;   ///< write all timings there; empty: do not
  /// Append what is measured to this file of wisdom, after every wave, so that nothing is lost when the program is ended; and do not
  /// measure again what it has. Empty: keep nothing.
  std::string wisdom_file;
  std::function<bool()> stop = [] { return false; };
  std::function<void(const TuningProgress&)> on_progress = [](const TuningProgress&) {};
};
inline constexpr double kSecondsPerOp = 4;

/// Fails if the settings make no sense. An op that cannot be tuned is in the result, with the reason in `failure`.
Expected<TuningResult> tune(const std::vector<TuningTask>& tasks, const TunerSettings& settings);
/// Decides anew what a recorded run decided.
Expected<TuningResult> replay(const RecordedRun& run);

}  // namespace strew::inline v0
