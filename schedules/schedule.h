// Schedules within the compiler: the default schedule of a plan, which schedules are legal, and the schedule's text as
// users write it.
#pragma once

#include <string>
#include <string_view>

#include "compiler/plan/plan.h"
#include "strew/export.h"
#include "strew/schedule.h"
#include "strew/status.h"
#include "strew/target.h"

namespace strew::inline v0 {

/// Does the strategy need the entries keys and list?
inline bool uses_owners(Strategy strategy) { return strategy == Strategy::owner || strategy == Strategy::radix; }

/// The default schedule for a plan on a target, for calls of at most `max_threads` threads (0: as many as the target
/// has cores). A schedule does not say how many threads a call uses; their number decides only which strategy pays.
/// `why`, if given, gets the reason for the strategy.
Schedule choose_schedule(const Plan& plan, const Target& target, int max_threads, std::string* why = nullptr);
/// For wide accumulation: may a call have fewer than two updates per element of the result?
bool updates_may_be_few(const Plan& fold);
/// Is the schedule legal for this plan and target? The message names the knob, its value and the reason.
STREW_API Status check_schedule(const Schedule& schedule, const Plan& plan, const Target& target);

/// A schedule as users write it: knobs, and possibly `threads=N`, which is a property of calls (KernelOptions::threads).
struct ScheduleText {
  std::string knobs;  ///< what parse_schedule() reads
  int threads = 0;    ///< 1..1024; 0: not given
};
STREW_API Expected<ScheduleText> split_threads(std::string_view text);

}  // namespace strew::inline v0
