// The text of a schedule: knob=value pairs with commas, in the order of schedules/knobs, so equal schedules print equal text.
// parse_schedule reads any of the knobs in any order. Tested by tests/unit/schedule_test.cc.
#include <algorithm>
#include <charconv>

#include "base/machine.h"
#include "schedules/knobs.h"
#include "schedules/schedule.h"

namespace strew::inline v0 {
namespace {

Status set_knob(std::string_view name, std::string_view value, Schedule& schedule) {
  std::string names;
  for (const Knob& knob : knobs()) {
    if (knob.name == name) return set_value(knob, value, schedule);
    names += (names.empty() ? "" : &knob == &knobs().back() ? " or " : ", ") + std::string(knob.name);
  }
  if (name == "autoscheduler")
    return invalid_argument(
        "schedule: autoscheduler=" + std::string(value) +
        ", but Halide's autoschedulers are not used: their scatters sum in no fixed order and copy inputs, their gathers are the "
        "loops written here with unsafe ends (docs/backends.md); set vector_bytes and unroll instead");
  return invalid_argument("schedule: unknown knob '" + std::string(name) + "', expected " + names);
}

}  // namespace

std::string_view name(Strategy strategy) {
  static constexpr std::string_view kNames[] = {
#define STREW_STRATEGY_NAME(strategy, text) text,
      STREW_STRATEGIES(STREW_STRATEGY_NAME)
#undef STREW_STRATEGY_NAME
  };
  return kNames[static_cast<size_t>(strategy)];
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

Expected<Schedule> parse_schedule(std::string_view text, const Schedule& base) {
  Schedule schedule = base;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view pair = text.substr(0, comma);
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return invalid_argument("schedule: '" + std::string(pair) + "', expected knob=value");
    STREW_TRY(set_knob(pair.substr(0, equals), pair.substr(equals + 1), schedule));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) return invalid_argument("schedule: ends with ',', expected knob=value");
  }
  return schedule;
}

Expected<ScheduleText> split_threads(std::string_view text) {
  constexpr std::string_view kKnob = "threads=";
  if (text.ends_with(',')) return invalid_argument("schedule: ends with ',', expected knob=value");
  ScheduleText out;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!pair.starts_with(kKnob)) {
      out.knobs += (out.knobs.empty() ? "" : ",") + std::string(pair);
      continue;
    }
    const std::string_view value = pair.substr(kKnob.size());
    const auto [last, error] = std::from_chars(value.data(), value.data() + value.size(), out.threads);
    if (error != std::errc() || last != value.data() + value.size() || out.threads < 1 || out.threads > kMostThreads)
      return invalid_argument("schedule: threads=" + std::string(value) + ", expected 1.." + std::to_string(kMostThreads));
  }
  return out;
}

}  // namespace strew::inline v0
