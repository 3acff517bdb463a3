// check_schedule: is this schedule legal for this plan on this target? The values that a knob may have are in its row
// of schedules/knobs.cc; this file checks what depends on the plan and the target. It decides legality only,
// heuristic.cc what is fast. Every message starts with the knob and its value. Tested by tests/unit/schedules/schedule_test.cc.
#include "schedules/schedule.h"

#include "schedules/candidates.h"
#include "schedules/knobs.h"
#include "schedules/stores.h"
#include "schedules/strategies/strategy.h"

namespace strew::inline v0 {

Status check_schedule(const Schedule& schedule, const Plan& plan, const Target& target) {
  for (const Knob& knob : knobs()) STREW_TRY(check_value(knob, schedule));
  const auto in_schedule = [](const Status& status) {
    return status.ok() ? status : invalid_argument("schedule: " + status.message());
  };
  STREW_TRY(in_schedule(legal_vector_bytes(schedule.vector_bytes, target)));
  if (schedule.nontemporal) STREW_TRY(in_schedule(legal_nontemporal(plan)));
  return in_schedule(legal(schedule.strategy, plan));
}

}  // namespace strew::inline v0
