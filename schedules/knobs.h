// The knobs of a schedule as one table. All code that prints, parses, checks, lists or draws knobs reads it.
//
// To add a knob, add a member of that name to Schedule and to ScheduleOverrides, a row in knobs.cc, a rule in the heuristic
// if its default depends on the plan, the code that honours it, and a row in schedules/README.md (a test compares names and
// values). Rules that depend on the plan or the target go into check_schedule.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "schedules/schedule.h"
#include "strew/export.h"
#include "strew/status.h"

namespace strew::inline v0 {

struct Knob {
  std::string_view name;
  std::variant<Strategy Schedule::*, int Schedule::*, bool Schedule::*> field;
  std::variant<std::optional<Strategy> ScheduleOverrides::*, std::optional<int> ScheduleOverrides::*,
               std::optional<bool> ScheduleOverrides::*>
      over;                  ///< the same knob where it replaces the heuristic's choice
  std::string_view meaning;  ///< one line, for help texts
  int least = 0, most = 0;   ///< the first value and the last
  bool doubles = false;      ///< an int takes the values least, 2 * least, 4 * least and so on
  bool checks = false;       ///< a bool that adds checks to every call; printed only if it is on
};
STREW_API std::span<const Knob> knobs();  ///< in the order in which schedules print

/// The values of the knob, for messages and documents: "1..1024", "16, 32 or 64", "true or false".
std::string values_of(const Knob& knob);
/// The value as the schedule's text has it.
std::string value_of(const Knob& knob, const Schedule& schedule);
/// Copies the knob from `from`, where it has been set, to `to`.
void set_override(const Knob& knob, const Schedule& from, ScheduleOverrides& to);
/// Checks the value that the schedule has: "schedule: unroll=3, expected 1, 2, 4 or 8".
Status check_value(const Knob& knob, const Schedule& schedule);

}  // namespace strew::inline v0
