// See knobs.h. Tested by tests/unit/schedules/schedule_test.cc and tests/fuzz (target schedule).
#include "schedules/knobs.h"

#include <charconv>
#include <type_traits>
#include <vector>

#include "base/machine.h"
#include "base/option_rows.h"
#include "strew/op.h"

namespace strew::inline v0 {
namespace {

/// A row is named like the members that it stands for, in Schedule and in ScheduleOverrides.
#define STREW_KNOB(name, ...) \
  Knob { #name, &Schedule::name, &ScheduleOverrides::name, __VA_ARGS__ }
constexpr Knob kKnobs[] = {
    STREW_KNOB(strategy, "how a call is shared out over threads", 0, STREW_STRATEGY_COUNT - 1),
    STREW_KNOB(vector_bytes, "width of vector registers; at most the target's", 16, 64, true),
    STREW_KNOB(unroll, "vectors per iteration of a run, positions per iteration where windows are one vector at most", 1, 8,
               true),
    STREW_KNOB(prefetch, "index positions to look ahead and prefetch", 0, 256),
    STREW_KNOB(nontemporal, "stores that bypass the caches; only where bits are moved", 0, 1),
    STREW_KNOB(tables, "strategy private: its tables", 2, 64),
    STREW_KNOB(scratch_mib, "the most scratch of a call: private and wide tables, and what radix partitions", 1, 65536),
    STREW_KNOB(adapts, "a call may take another strategy or other stores of the kernel's where these are faster", 0, 1),
    STREW_KNOB(checked, "every call finds out first whether the op's hints are true", 0, 1, false, true),
};
#undef STREW_KNOB

/// A number that is no Strategy prints as the number.
std::string print(Strategy strategy) {
  const bool is_one = static_cast<size_t>(strategy) < std::size(kStrategies);
  return is_one ? std::string(name(strategy)) : std::to_string(static_cast<int>(strategy));
}
std::string print(int number) { return std::to_string(number); }
std::string print(bool value) { return value ? "true" : "false"; }

bool is_value(const Knob& knob, int number) {
  if (number < knob.least || number > knob.most) return false;
  int least = knob.least;
  while (knob.doubles && least < number) least *= 2;
  return !knob.doubles || least == number;
}

Status refuse(const Knob& knob, std::string_view text) {
  return invalid_argument("schedule: " + std::string(knob.name) + "=" + std::string(text) + ", expected " + values_of(knob));
}

/// A strategy or a bool, whose values have names.
template <class Named>
bool parse(const Knob& knob, std::string_view text, Named& out) {
  for (int value = knob.least; value <= knob.most; ++value) {
    if (print(static_cast<Named>(value)) != text) continue;
    out = static_cast<Named>(value);
    return true;
  }
  return false;
}

bool parse(const Knob& knob, std::string_view text, int& out) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !is_value(knob, number)) return false;
  out = number;
  return true;
}

}  // namespace

std::span<const Knob> knobs() { return kKnobs; }

std::string values_of(const Knob& knob) {
  std::vector<std::string> values;
  if (std::holds_alternative<Strategy Schedule::*>(knob.field))
    for (const Strategy strategy : kStrategies) values.emplace_back(name(strategy));
  else if (std::holds_alternative<bool Schedule::*>(knob.field))
    values = {"true", "false"};
  else if (!knob.doubles)
    return std::to_string(knob.least) + ".." + std::to_string(knob.most);
  else
    for (int value = knob.least; value <= knob.most; value *= 2) values.push_back(std::to_string(value));
  return list_of(values);
}

std::string value_of(const Knob& knob, const Schedule& schedule) {
  return std::visit([&](auto field) { return print(schedule.*field); }, knob.field);
}

void set_override(const Knob& knob, const Schedule& from, ScheduleOverrides& to) {
  std::visit(
      [&](auto field) {
        using Override = std::optional<std::remove_cvref_t<decltype(from.*field)>> ScheduleOverrides::*;
        to.*std::get<Override>(knob.over) = from.*field;
      },
      knob.field);
}

Status check_value(const Knob& knob, const Schedule& schedule) {
  const bool legal = std::visit([&](auto field) { return is_value(knob, static_cast<int>(schedule.*field)); }, knob.field);
  return legal ? Status() : refuse(knob, value_of(knob, schedule));
}

// ---- The text of a schedule: knob=value pairs with commas, in the order of the knobs, so equal schedules print equal text. parse_schedule
// reads any of the knobs in any order.

namespace {

/// Replaces the knob of `schedule`, if `overrides` has a value for it. Checks the value.
Status apply_override(const Knob& knob, const ScheduleOverrides& overrides, Schedule& schedule) {
  std::visit(
      [&](auto field) {
        using Override = std::optional<std::remove_cvref_t<decltype(schedule.*field)>> ScheduleOverrides::*;
        if (const auto& value = overrides.*std::get<Override>(knob.over)) schedule.*field = *value;
      },
      knob.field);
  return check_value(knob, schedule);
}

/// Sets the knob. If `text` is not one of its values, fails and leaves the schedule unchanged.
Status set_value(const Knob& knob, std::string_view text, Schedule& schedule) {
  const bool done = std::visit([&](auto field) { return parse(knob, text, schedule.*field); }, knob.field);
  return done ? Status() : refuse(knob, text);
}

/// The knob of that name; fails if there is none.
Expected<const Knob*> find_knob(std::string_view name, std::string_view value) {
  std::vector<std::string_view> names;
  for (const Knob& knob : knobs()) {
    if (knob.name == name) return &knob;
    names.push_back(knob.name);
  }
  if (name == "autoscheduler")
    return invalid_argument(
        "schedule: autoscheduler=" + std::string(value) +
        ", but Halide's autoschedulers are not used: their scatters sum in no fixed order and copy inputs, their gathers are the "
        "loops written here with unsafe ends (docs/backends.md); set vector_bytes and unroll instead");
  return invalid_argument("schedule: unknown knob '" + std::string(name) + "', expected " + list_of(names));
}

Status parse_threads(std::string_view value, int& threads) {
  const auto [last, error] = std::from_chars(value.data(), value.data() + value.size(), threads);
  if (error == std::errc() && last == value.data() + value.size() && threads >= 1 && threads <= kMostThreads) return {};
  return invalid_argument("schedule: threads=" + std::string(value) + ", expected 1.." + std::to_string(kMostThreads));
}

}  // namespace

std::string_view name(Strategy strategy) {
#define STREW_STRATEGY_NAME(strategy, text) text,
  return name_among({STREW_STRATEGIES(STREW_STRATEGY_NAME)}, strategy);
#undef STREW_STRATEGY_NAME
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
