// See variant.h.
#include "tune/variant.h"

#include "schedules/knobs.h"

namespace strew::inline v0 {

ScheduleOverrides overrides_of(const Schedule& schedule) {
  ScheduleOverrides out;
  for (const Knob& knob : knobs())
    if (!knob.checks) set_override(knob, schedule, out);
  return out;
}

}  // namespace strew::inline v0
