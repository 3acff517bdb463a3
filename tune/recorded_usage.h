// Recordings of programs (STREW_RECORD, runtime/record) as tuning tasks. Tested by tests/unit/runtime/record/record_test.cc.
#pragma once

#include <string>
#include <vector>

#include "strew/status.h"
#include "tune/tuning_task.h"

namespace strew::inline v0 {

struct RecordedTasks {
  std::vector<TuningTask> tasks;      ///< the most called first
  std::vector<std::string> problems;  ///< "PATH:LINE: …", for each line that is no record of calls
};
/// Is the path that of a recording: a folder, or a file whose name ends in .jsonl?
bool is_recording(const std::string& path);
/// Reads a recording, or all those of a folder; the same calls of several processes are one task. `known` takes precedence over what was
/// recorded. Fails if nothing can be read.
Expected<RecordedTasks> read_recording(const std::string& path, const KnownUsage& known);

}  // namespace strew::inline v0
