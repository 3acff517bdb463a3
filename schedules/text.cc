// The text of a schedule: knob=value pairs with commas, in the order of schedules/knobs, so equal schedules print equal text.
// parse_schedule reads any of the knobs in any order. Tested by tests/unit/schedules/schedule_test.cc.
#include <charconv>
#include <iterator>

#include "base/machine.h"
#include "schedules/knobs.h"
#include "schedules/schedule.h"

namespace strew::inline v0 {
namespace {

/// The knob of that name; fails if there is none.
Expected<const Knob*> find_knob(std::string_view name, std::string_view value) {
  std::string names;
  for (const Knob& knob : knobs()) {
    if (knob.name == name) return &knob;
    names += (names.empty() ? "" : &knob == &knobs().back() ? " or " : ", ") + std::string(knob.name);
  }
  if (name == "autoscheduler")
    return invalid_argument(
        "schedule: autoscheduler=" + std::string(value) +
        ", but Halide's autoschedulers are not used: their scatters sum in no fixed order and copy inputs, their gathers are the "
        "loops written here with unsafe ends (docs/backends.md); set vector_bytes and unroll instead");
  return invalid_argument("schedule: unknown knob '" + std::string(name) + "', expected " + names);
}

Status parse_threads(std::string_view value, int& threads) {
  const auto [last, error] = std::from_chars(value.data(), value.data() + value.size(), threads);
  if (error == std::errc() && last == value.data() + value.size() && threads >= 1 && threads <= kMostThreads) return {};
  return invalid_argument("schedule: threads=" + std::string(value) + ", expected 1.." + std::to_string(kMostThreads));
}

}  // namespace

std::string_view name(Strategy strategy) {
  static constexpr std::string_view kNames[] = {
#define STREW_STRATEGY_NAME(strategy, text) text,
      STREW_STRATEGIES(STREW_STRATEGY_NAME)
#undef STREW_STRATEGY_NAME
  };
  const auto at = static_cast<size_t>(strategy);
  return at < std::size(kNames) ? kNames[at] : std::string_view("invalid");
}

std::string print(const Schedule& schedule) {
  std::string text;
  for (const Knob& knob : knobs()) {
    const std::string value = value_of(knob, schedule);
    if (knob.checks && value == "false") continue;
    text += (text.empty() ? "" : ",") + std::string(knob.name) + "=" + value;
  }
  return text;
}

std::string print(const ScheduleOverrides& overrides) {
  std::string text;
  for (const Knob& knob : knobs()) {
    const bool given = std::visit([&](auto over) { return (overrides.*over).has_value(); }, knob.over);
    if (!given) continue;
    Schedule schedule;
    static_cast<void>(apply_override(knob, overrides, schedule));  // a value out of range is printed too
    text += (text.empty() ? "" : ",") + std::string(knob.name) + "=" + value_of(knob, schedule);
  }
  return text;
}

Expected<ScheduleText> parse_schedule_text(std::string_view text) {
  ScheduleText out;
  Schedule schedule;  // a place to parse values into
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view pair = text.substr(0, comma);
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return invalid_argument("schedule: '" + std::string(pair) + "', expected knob=value");
    const std::string_view name = pair.substr(0, equals), value = pair.substr(equals + 1);
    if (name == "threads") {
      STREW_TRY(parse_threads(value, out.threads));
    } else {
      STREW_ASSIGN(const Knob* const knob, find_knob(name, value));
      STREW_TRY(set_value(*knob, value, schedule));
      set_override(*knob, schedule, out.knobs);
    }
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) return invalid_argument("schedule: ends with ',', expected knob=value");
  }
  return out;
}

Expected<Schedule> apply(const ScheduleOverrides& overrides, const Schedule& base) {
  Schedule schedule = base;
  for (const Knob& knob : knobs()) STREW_TRY(apply_override(knob, overrides, schedule));
  // Who names a strategy, or stores, gets these.
  if ((overrides.strategy || overrides.nontemporal) && !overrides.adapts) schedule.adapts = false;
  return schedule;
}

Expected<Schedule> parse_schedule(std::string_view text, const Schedule& base) {
  STREW_ASSIGN(const ScheduleText parsed, parse_schedule_text(text));
  if (parsed.threads != 0)
    return invalid_argument("schedule: threads=" + std::to_string(parsed.threads) +
                            ", but the number of threads is no knob: set KernelOptions::threads");
  return apply(parsed.knobs, base);
}

}  // namespace strew::inline v0
