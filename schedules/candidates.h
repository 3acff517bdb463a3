// The schedules that are worth trying for a plan: for each knob the values that can pay, with the reason for each, and for a
// value that is not legal the reason why not. check_schedule() asks the same questions, so a candidate is always a legal
// schedule. The heuristic takes the cheapest candidate by the cost model (schedules/costs), `strew explain` lists them, and
// `./dev bench costs` measures them. Tested by tests/unit/schedules/candidates_test.cc.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/plan/plan.h"
#include "schedules/schedule.h"
#include "strew/status.h"
#include "strew/target.h"

namespace strew::inline v0 {

/// A value of one knob. `value` is the number of a strategy, an int, or 0 and 1 for false and true.
struct KnobChoice {
  int value;
  std::string_view why;  ///< one line: what the value is good for
  Status legal;          ///< why the plan or the target rules it out
};

struct ScheduleChoices {
  std::vector<KnobChoice> strategy, vector_bytes, unroll, prefetch, nontemporal;
  /// Of the strategies that take scratch memory. Only the tuner tries other values than the defaults: the cost model knows of no plan that another
  /// value suits better, and choosing a schedule would take several times as long.
  std::vector<KnobChoice> tables, scratch_mib;
};
ScheduleChoices schedule_choices(const Plan& plan, const Target& target);

/// Every combination of legal values; tables, scratch_mib and the knobs that ScheduleChoices does not have keep their defaults. Simpler schedules
/// come first: of two candidates that cost the same, the first is the better.
std::vector<Schedule> candidates(const ScheduleChoices& choices);

/// Ok if the plan and the target allow the value.
Status legal_vector_bytes(int bytes, const Target& target);

}  // namespace strew::inline v0
