// See variant.h.
#include "tune/variant.h"

namespace strew::inline v0 {

ScheduleOverrides overrides_of(const Schedule& schedule) {
  ScheduleOverrides out;
  out.strategy = schedule.strategy;
  out.vector_bytes = schedule.vector_bytes;
  out.unroll = schedule.unroll;
  out.prefetch = schedule.prefetch;
  out.nontemporal = schedule.nontemporal;
  out.tables = schedule.tables;
  out.scratch_mib = schedule.scratch_mib;
  out.adapts = schedule.adapts;
  return out;
}

}  // namespace strew::inline v0
