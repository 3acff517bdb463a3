// Between the tuner and wisdom: records of what was measured, and candidates of what records say. Tested by
// tests/unit/tune/tuner_test.cc.
#pragma once

#include <string>
#include <vector>

#include "backends/pipeline.h"
#include "schedules/wisdom/record.h"
#include "tune/tuning_result.h"
#include "tune/tuning_task.h"

namespace strew::inline v0 {

/// `planned`: the op as it was given; `sized`: with the usage's extents.
WisdomRecord record_of(const TuningTask& task, const Compiled& planned, const Compiled& sized, const TunedCandidate& candidate,
                       bool is_default);

/// The candidates of the task that the records have, measured on this machine by this version of strew beside the same default.
std::vector<TunedCandidate> known_candidates(const std::vector<WisdomRecord>& records, const TuningTask& task,
                                             const Compiled& planned);

}  // namespace strew::inline v0
