// check_schedule: may this schedule run this plan on this target?
//
// Legality only; what is wise is heuristic.cc. Every refusal starts with the knob and its value, so that text from a user, from
// wisdom or from the tuner gets the same answer. Tested by tests/unit/schedule_test.cc.
#include "schedules/schedule.h"

#include "schedules/strategies/strategy.h"

namespace strew {
namespace {

Status refuse(std::string_view knob, const std::string& value, const std::string& expected) {
  return invalid_argument("schedule: " + std::string(knob) + "=" + value + ", " + expected);
}

}  // namespace

Status check_schedule(const Schedule& schedule, const Plan& plan, const Target& target) {
  if (schedule.threads < 1 || schedule.threads > 1024)
    return refuse("threads", std::to_string(schedule.threads), "expected 1..1024");
  if (schedule.vector_bytes != 16 && schedule.vector_bytes != 32 && schedule.vector_bytes != 64)
    return refuse("vector_bytes", std::to_string(schedule.vector_bytes), "expected 16, 32 or 64");
  if (schedule.vector_bytes > target.vector_bytes)
    return refuse("vector_bytes", std::to_string(schedule.vector_bytes),
                  "expected at most " + std::to_string(target.vector_bytes) + " on " + print(target));
  if (schedule.unroll != 1 && schedule.unroll != 2 && schedule.unroll != 4 && schedule.unroll != 8)
    return refuse("unroll", std::to_string(schedule.unroll), "expected 1, 2, 4 or 8");
  if (schedule.prefetch < 0 || schedule.prefetch > 256)
    return refuse("prefetch", std::to_string(schedule.prefetch), "expected 0..256");
  if (schedule.nontemporal && !plan.pure_move)
    return refuse("nontemporal", "true", "legal only where bits are moved; this op computes");
  if (schedule.tables < 2 || schedule.tables > 64) return refuse("tables", std::to_string(schedule.tables), "expected 2..64");
  if (schedule.scratch_mib < 1 || schedule.scratch_mib > 65536)
    return refuse("scratch_mib", std::to_string(schedule.scratch_mib), "expected 1..65536");
  if (const Status status = legal(schedule.strategy, plan); !status.ok())
    return invalid_argument("schedule: " + status.message());
  return {};
}

}  // namespace strew
