// Schedules within the compiler: the default schedule of a plan, which schedules are legal, and the schedule's text as
// users write it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/strategy_traits.h"
#include "compiler/plan/plan.h"
#include "strew/export.h"
#include "strew/schedule.h"
#include "strew/status.h"
#include "strew/target.h"

namespace strew::inline v0 {

inline const StrategyTraits& traits_of(Strategy strategy) { return traits_of(static_cast<int>(strategy)); }

/// The default schedule for a plan on a target, for calls of at most `max_threads` threads (0: as many as the target
/// has cores). A schedule does not say how many threads a call uses; their number decides only which strategy pays.
/// `why`, if given, gets what a call is predicted to cost (costs/predict.h).
Schedule choose_schedule(const Plan& plan, const Target& target, int max_threads, std::string* why = nullptr);
/// The number of threads for which that plans.
int planned_threads(const Target& target, int max_threads);
/// The candidates of which choose_schedule() takes the cheapest.
std::vector<Schedule> default_candidates(const Plan& plan, const Target& target, int threads);
/// For wide accumulation: may a call have fewer than two updates per element of the result?
bool updates_may_be_few(const Plan& fold);
/// Is the schedule legal for this plan and target? The message names the knob, its value and the reason.
STREW_API Status check_schedule(const Schedule& schedule, const Plan& plan, const Target& target);

/// The knobs that have a value, "unroll=8,prefetch=0".
std::string print(const ScheduleOverrides& overrides);
/// `base` with the knobs that `overrides` sets. Fails if one of them is out of range.
Expected<Schedule> apply(const ScheduleOverrides& overrides, const Schedule& base);

// The schedules that are worth trying for a plan: for each knob the values that can pay, with the reason for each, and for a
// value that is not legal the reason why not. check_schedule() asks the same questions, so a candidate is always a legal
// schedule. The heuristic takes the cheapest candidate by the cost model (schedules/costs), `strew explain` lists them, and
// `./dev bench costs` measures them. Tested by tests/unit/schedules/candidates_test.cc.

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

}  // namespace strew::inline v0
