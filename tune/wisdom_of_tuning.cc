// See wisdom_of_tuning.h.
#include "tune/wisdom_of_tuning.h"

#include <algorithm>

#include "base/machine.h"
#include "base/machine_costs.h"
#include "runtime/learned_wisdom.h"

namespace strew::inline v0 {

WisdomRecord record_of(const TuningTask& task, const Compiled& planned, const Compiled& sized, const TunedCandidate& candidate,
                       bool is_default) {
  WisdomRecord out = record_here(planned, sized);
  out.dims = task.usage.dims;
  out.indices = print_indices(task.usage);
  out.temperature = name(task.usage.temperature);
  out.threads = task.usage.threads;
  out.backend = name(candidate.backend);
  out.schedule = print(candidate.schedule);
  out.is_default = is_default;
  out.is_confirmed = candidate.is_confirmed;
  out.is_busy = candidate.is_busy;
  out.nanoseconds = candidate.nanoseconds;
  out.ratio = candidate.ratio;
  out.ratio_low = candidate.ratio_low;
  out.ratio_high = candidate.ratio_high;
  out.rounds = candidate.rounds;
  return out;
}

std::vector<TunedCandidate> known_candidates(const std::vector<WisdomRecord>& records, const TuningTask& task,
                                             const Compiled& planned) {
  std::vector<const WisdomRecord*> own;
  const std::string indices = print_indices(task.usage), here = machine_key(machine());
  for (const WisdomRecord& r : records) {
    const bool is_workload = r.op == planned.identity_text && r.dims == task.usage.dims && r.indices == indices &&
                             r.temperature == name(task.usage.temperature) && r.threads == task.usage.threads;
    if (is_workload && r.machine == here && r.features == features_key(planned.target) && r.generator == generator_version())
      own.push_back(&r);
  }
  // Ratios beside another default say nothing.
  const bool has_default = std::any_of(
      own.begin(), own.end(), [&](const WisdomRecord* r) { return r->is_default && r->schedule == print(planned.schedule); });
  std::vector<TunedCandidate> out;
  for (const WisdomRecord* r : own) {
    const Expected<Schedule> schedule = parse_schedule(r->schedule, planned.schedule);
    const Expected<BackendChoice> backend = parse_backend(r->backend);
    if (!has_default || r->is_default || !schedule.ok() || !backend.ok()) continue;
    TunedCandidate each;
    each.backend = *backend;
    each.schedule = *schedule;
    each.rounds = r->rounds;
    each.nanoseconds = r->nanoseconds;
    each.ratio = r->ratio;
    each.ratio_low = r->ratio_low;
    each.ratio_high = r->ratio_high;
    each.is_measured = true;
    each.is_busy = r->is_busy;
    out.push_back(std::move(each));
  }
  return out;
}

}  // namespace strew::inline v0
