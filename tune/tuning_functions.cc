// See tuning_functions.h.
#include "tune/tuning_functions.h"

#include "base/machine.h"
#include "base/machine_costs.h"
#include "runtime/disk_cache/disk_cache_functions.h"
#include "tune/report/html_report.h"
#include "tune/tuning_text.h"

namespace strew::inline v0 {

const TuningFunctions& tuning_functions() {
  static const TuningFunctions functions = {parse_dims,
                                            invent_usage,
                                            [](const Usage& usage) { return print(usage); },
                                            WorkloadData::make,
                                            tuning_tasks,
                                            is_recording,
                                            read_recording,
                                            tune,
                                            read_timings,
                                            replay,
                                            difference,
                                            html_report,
                                            tuning_text,
                                            tuning_json,
                                            tuning_duration,
                                            wisdom_path,
                                            read_wisdom,
                                            latest,
                                            [](const WisdomRecord& record) { return print(record); },
                                            [] { return machine_key(machine()); },
                                            disk_cache_functions};
  return functions;
}

}  // namespace strew::inline v0
