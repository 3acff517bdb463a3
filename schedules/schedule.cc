// check_schedule: is this schedule legal for this plan on this target? The values that a knob may have are in its row
// of schedules/knobs.cc; this file checks what depends on the plan and the target. It decides legality only,
// heuristic.cc what is fast. Every message starts with the knob and its value. Tested by tests/unit/schedule_test.cc.
#include "schedules/schedule.h"

#include "schedules/knobs.h"
#include "schedules/strategies/strategy.h"

namespace strew::inline v0 {

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

}  // namespace strew::inline v0
