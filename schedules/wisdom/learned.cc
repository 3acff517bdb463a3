// See learned.h.
#include "schedules/wisdom/learned.h"

#include <algorithm>

#include "base/log.h"
#include "base/machine.h"
#include "base/machine_costs.h"
#include "schedules/costs/workload.h"
#include "schedules/schedule.h"

namespace strew::inline v0 {
namespace {

/// Ok if the plan may take the strategy and has the bits of the default then: of those, the heuristic has candidates.
Status may_take(const Schedule& schedule, const Plan& plan, const Target& target, int threads, const Schedule& chosen) {
  STREW_TRY(check_schedule(schedule, plan, target));
  if (schedule.strategy == chosen.strategy) return {};
  const std::vector<Schedule> candidates = default_candidates(plan, target, std::max(threads, 2));
  const bool is_candidate =
      std::any_of(candidates.begin(), candidates.end(), [&](const Schedule& each) { return each.strategy == schedule.strategy; });
  if (is_candidate) return {};
  return unsupported("strategy " + std::string(name(schedule.strategy)) + " would give other bits than the default");
}

/// The schedule of a record in the place of `chosen`. The number of private tables may decide bits, and `checked` is no matter of speed;
/// which strategies a kernel with open extents can run is for its calls to choose from.
Expected<Schedule> adopt(const std::string& text, bool is_open, const Schedule& chosen) {
  STREW_ASSIGN(Schedule schedule, parse_schedule(text, chosen));
  schedule.tables = chosen.tables;
  schedule.checked = chosen.checked;
  if (is_open && chosen.adapts) {
    schedule.strategy = chosen.strategy;
    schedule.adapts = true;
  }
  return schedule;
}

}  // namespace

ShapeFeatures shape_features(const Plan& plan) {
  const Workload work = workload_of(plan);
  return {work.positions, work.window_bytes, work.table_bytes};
}

Learned learn(const Wisdom& wisdom, const VerifiedOp& identity, const std::string& identity_text, const Plan& plan,
              const Target& target, int threads, const Schedule& chosen) {
  if (&wisdom == Wisdom::none().get()) return {};
  // Only `native` has costs of this machine; a kernel for a named target must not depend on who builds it.
  const bool is_this_machine = target.costs.source != CostsSource::nominal;
  const bool is_open = workload_of(plan).is_open;
  const WisdomQuestion question{
      family_of(identity), identity_text, shape_features(plan), is_open, threads, is_this_machine ? machine_key(machine()) : "",
      features_key(target)};
  const WisdomAnswer answer = look_up(wisdom, question);
  if (answer.step == WisdomStep::none)
    return {std::nullopt, "", "no record of this op or a near one for " + question.features + "; the cost model decides"};
  Learned out;
  out.from = answer.from;
  for (const WisdomAnswer::Choice& choice : answer.choices) {
    const Expected<Schedule> schedule = adopt(choice.schedule, is_open, chosen);
    const Status status = schedule.ok() ? may_take(*schedule, plan, target, threads, chosen) : schedule.status();
    if (status.ok()) {
      out.schedule = *schedule;
      out.backend = choice.backend;
      return out;
    }
    out.from += "; a record is left out: " + status.message();
    log(LogLevel::compile, "wisdom: " + choice.schedule + " is left out: " + status.message());
  }
  return out;
}

}  // namespace strew::inline v0
