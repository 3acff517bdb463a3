// TuningFunctions: what the commands `strew tune`, `strew wisdom` and `strew extract` call, and by way of it those of `strew cache`, as a table of
// functions, because libstrew exports few names (as the modules do, backends/modules.h). Within libstrew the functions are called by their own headers.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "schedules/wisdom/wisdom_file.h"
#include "strew/export.h"
#include "strew/import.h"
#include "tune/recorded_usage.h"
#include "tune/tuner.h"
#include "tune/tuning_tasks.h"
#include "tune/workload_data.h"

namespace strew::inline v0 {

struct DiskCacheFunctions;  // runtime/disk_cache/disk_cache_functions.h

struct TuningFunctions {
  // tune/
  Expected<std::map<std::string, int64_t>> (*parse_dims)(std::string_view);
  Expected<InventedUsage> (*invent_usage)(const VerifiedOp&, const KnownUsage&);
  std::string (*print_usage)(const Usage&);
  Expected<WorkloadData> (*make_workload)(const VerifiedOp&, const Usage&, uint64_t seed, int64_t max_bytes);
  Expected<std::vector<TuningTask>> (*tuning_tasks)(const Program&, const std::string& only, const KnownUsage&);
  bool (*is_recording)(const std::string& path);
  Expected<RecordedTasks> (*read_recording)(const std::string& path, const KnownUsage&);
  Expected<TuningResult> (*tune)(const std::vector<TuningTask>&, const TunerSettings&);
  Expected<RecordedRun> (*read_timings)(const std::string& path);
  Expected<TuningResult> (*replay)(const RecordedRun&);
  std::string (*difference)(const TunedCandidate& candidate, const TunedCandidate& standard);
  std::string (*html_report)(const TuningResult&);
  std::string (*text)(const TuningResult&);
  std::string (*json)(const TuningResult&);
  std::string (*duration)(double nanoseconds);
  // schedules/wisdom/
  std::string (*wisdom_path)();
  Expected<WisdomLines> (*read_wisdom)(const std::string& path);
  std::vector<WisdomRecord> (*latest)(std::vector<WisdomRecord>);
  std::string (*print_record)(const WisdomRecord&);
  std::string (*this_machine)();  ///< as records name it
  const DiskCacheFunctions& (*disk_cache)();
};
STREW_API const TuningFunctions& tuning_functions();

}  // namespace strew::inline v0
