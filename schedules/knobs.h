// The knobs of a schedule as one table: whatever prints, parses, checks, lists or draws knobs reads it.
//
// To add one: its member of Schedule, its row in knobs.cc, the heuristic where the default depends on the plan, whatever honours it, and its
// row in schedules/README.md (a test compares names and values). Rules that depend on the plan or the target are check_schedule's.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/status.h"
#include "schedules/schedule.h"

namespace strew {

struct Knob {
  std::string_view name;
  std::variant<Strategy Schedule::*, int Schedule::*, bool Schedule::*> field;
  std::string_view meaning;  ///< one line, for help texts
  int least = 0, most = 0;   ///< of an int
  bool doubles = false;      ///< of an int: least, twice that, and so on
  bool checks = false;       ///< of a bool: adds checks to every call; printed only where it is on
};
std::span<const Knob> knobs();  ///< in the order in which schedules print

/// "1..1024", "16, 32 or 64", "true or false": what messages and documents say.
std::string values_of(const Knob& knob);
/// As in the schedule's text.
std::string value_of(const Knob& knob, const Schedule& schedule);
/// "schedule: unroll=3, expected 1, 2, 4 or 8" where the text is no value of the knob; the schedule is then left as it was.
Status set_value(const Knob& knob, std::string_view text, Schedule& schedule);
/// The same for a value that the schedule already has.
Status check_value(const Knob& knob, const Schedule& schedule);

}  // namespace strew
