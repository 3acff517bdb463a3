// See explained.h.
#include "schedules/costs/explained.h"

#include <utility>

#include "schedules/schedule.h"
#include "schedules/strategies/strategy.h"

namespace strew::inline v0 {
namespace {

std::string source_of(const Target& target) {
  switch (target.costs.source) {
    case CostsSource::measured:
      return "measured on this machine";
    case CostsSource::derived:
      return "derived from this machine's CPU, caches and cores; `strew target --measure` would measure them";
    case CostsSource::nominal:
      break;
  }
  return "nominal ones of " + target.cpu;
}

/// Every value of every knob but the strategy, in the place of the chosen one.
std::vector<ExplainedCosts::Value> other_values(const CostQuestion& chosen, const ScheduleChoices& choices) {
  const std::pair<std::string_view, const std::vector<KnobChoice>*> knobs_with_values[] = {
      {"vector_bytes", &choices.vector_bytes}, {"unroll", &choices.unroll}, {"prefetch", &choices.prefetch},
      {"nontemporal", &choices.nontemporal},   {"tables", &choices.tables}, {"scratch_mib", &choices.scratch_mib}};
  std::vector<ExplainedCosts::Value> values;
  for (const auto& [name, list] : knobs_with_values) {
    for (const KnobChoice& choice : *list) {
      const std::string value = name != "nontemporal" ? std::to_string(choice.value) : choice.value != 0 ? "true" : "false";
      ExplainedCosts::Value row{std::string(name), value, std::string(choice.why), false, choice.legal, {}};
      const Expected<Schedule> schedule = parse_schedule(row.knob + "=" + value, chosen.schedule);
      row.is_chosen = schedule.ok() && *schedule == chosen.schedule;
      if (schedule.ok()) row.predicted = predict({chosen.work, *schedule, chosen.target, chosen.threads});
      values.push_back(std::move(row));
    }
  }
  return values;
}

}  // namespace

ExplainedCosts explain_costs(const Plan& plan, const Schedule& schedule, const Target& target, int max_threads) {
  ExplainedCosts out;
  if (is_npu(target)) return out;
  out.source = source_of(target);
  out.threads = planned_threads(target, max_threads);
  const Workload work = workload_of(plan);
  for (const Schedule& candidate : default_candidates(plan, target, out.threads)) {
    const Prediction predicted = predict({work, candidate, target, out.threads});
    const bool is_new = out.strategies.empty() || out.strategies.back().schedule.strategy != candidate.strategy;
    if (is_new) out.strategies.push_back({candidate, predicted});
    if (predicted.total() < out.strategies.back().predicted.total()) out.strategies.back() = {candidate, predicted};
  }
  const uint32_t carried = strategies_of(plan, schedule);
  for (ExplainedCosts::Candidate& each : out.strategies) each.is_carried = (carried & bit(each.schedule.strategy)) != 0;
  out.values = other_values({work, schedule, target, out.threads}, schedule_choices(plan, target));
  return out;
}

}  // namespace strew::inline v0
