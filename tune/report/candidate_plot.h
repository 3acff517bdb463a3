// The two pictures of an op in the report, as SVG.
#pragma once

#include <string>

#include "tune/tuning_result.h"

namespace strew::inline v0 {

/// A line per measured candidate, grouped by backend and strategy: a dot for its time, and a bar for the interval in which the time lies;
/// upright lines for memcpy and the limit of memory. Shows the fastest kMostRows and says how many it leaves out.
std::string candidate_plot(const TunedOp& op);
inline constexpr size_t kMostRows = 80;

/// Predicted against measured times. Empty if fewer than two candidates have both.
std::string prediction_plot(const TunedOp& op);

}  // namespace strew::inline v0
