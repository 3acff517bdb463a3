// check_schedule: may this schedule run this plan on this target?
//
// What values a knob has is its row in schedules/knobs; here is what depends on the plan and the target. Legality only; what is wise is heuristic.cc. Every refusal starts with the knob and its value, so that text from a user, from
// wisdom or from the tuner gets the same answer. Tested by tests/unit/schedule_test.cc.
#include "schedules/schedule.h"

#include "schedules/knobs.h"
#include "schedules/strategies/strategy.h"

namespace strew {

Status check_schedule(const Schedule& schedule, const Plan& plan, const Target& target) {
  for (const Knob& knob : knobs()) STREW_TRY(check_value(knob, schedule));
  if (schedule.vector_bytes > target.vector_bytes)
    return invalid_argument("schedule: vector_bytes=" + std::to_string(schedule.vector_bytes) + ", expected at most " +
                            std::to_string(target.vector_bytes) + " on " + print(target));
  if (schedule.nontemporal && !plan.pure_move)
    return invalid_argument("schedule: nontemporal=true, legal only where bits are moved; this op computes");
  if (const Status status = legal(schedule.strategy, plan); !status.ok())
    return invalid_argument("schedule: " + status.message());
  return {};
}

}  // namespace strew
