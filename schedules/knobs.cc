// See knobs.h. Tested by tests/unit/schedules/schedule_test.cc and tests/fuzz (target schedule).
#include "schedules/knobs.h"

#include <algorithm>
#include <charconv>
#include <type_traits>
#include <vector>

namespace strew::inline v0 {
namespace {

/// A row is named like the members that it stands for, in Schedule and in ScheduleOverrides.
#define STREW_KNOB(name, ...) \
  Knob { #name, &Schedule::name, &ScheduleOverrides::name, __VA_ARGS__ }
constexpr Knob kKnobs[] = {
    STREW_KNOB(strategy, "how a call is shared out over threads"),
    STREW_KNOB(vector_bytes, "width of vector registers; at most the target's", 16, 64, true),
    STREW_KNOB(unroll, "vectors per iteration of a run, positions per iteration where windows are one vector at most", 1, 8,
               true),
    STREW_KNOB(prefetch, "index positions to look ahead and prefetch", 0, 256),
    STREW_KNOB(nontemporal, "stores that bypass the caches; only where bits are moved"),
    STREW_KNOB(tables, "strategy private: its tables", 2, 64),
    STREW_KNOB(scratch_mib, "the most scratch of a call: private and wide tables, and what radix partitions", 1, 65536),
    STREW_KNOB(adapts, "a call may take another strategy or other stores of the kernel's where these are faster"),
    STREW_KNOB(checked, "every call finds out first whether the op's hints are true", 0, 0, false, true),
};
#undef STREW_KNOB

/// Joins the values: "a, b or c".
std::string listed(const std::vector<std::string>& values) {
  std::string out;
  for (size_t i = 0; i < values.size(); ++i) out += (i == 0 ? "" : i + 1 == values.size() ? " or " : ", ") + values[i];
  return out;
}

bool is_value(const Knob& knob, int number) {
  if (number < knob.least || number > knob.most) return false;
  int least = knob.least;
  while (knob.doubles && least < number) least *= 2;
  return !knob.doubles || least == number;
}

Status refuse(const Knob& knob, std::string_view text) {
  return invalid_argument("schedule: " + std::string(knob.name) + "=" + std::string(text) + ", expected " + values_of(knob));
}

bool parse(const Knob&, std::string_view text, Strategy& out) {
  const auto* const found =
      std::find_if(std::begin(kStrategies), std::end(kStrategies), [&](Strategy s) { return name(s) == text; });
  if (found == std::end(kStrategies)) return false;
  out = *found;
  return true;
}

bool parse(const Knob& knob, std::string_view text, int& out) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !is_value(knob, number)) return false;
  out = number;
  return true;
}

bool parse(const Knob&, std::string_view text, bool& out) {
  if (text != "true" && text != "false") return false;
  out = text == "true";
  return true;
}

bool is_strategy(Strategy strategy) { return static_cast<size_t>(strategy) < std::size(kStrategies); }

/// A number that is no Strategy prints as the number.
std::string print(Strategy strategy) {
  return is_strategy(strategy) ? std::string(name(strategy)) : std::to_string(static_cast<int>(strategy));
}
std::string print(int number) { return std::to_string(number); }
std::string print(bool value) { return value ? "true" : "false"; }

bool is_legal(const Knob&, Strategy strategy) { return is_strategy(strategy); }
bool is_legal(const Knob& knob, int number) { return is_value(knob, number); }
bool is_legal(const Knob&, bool) { return true; }

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
  return listed(values);
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

Status apply_override(const Knob& knob, const ScheduleOverrides& overrides, Schedule& schedule) {
  std::visit(
      [&](auto field) {
        using Override = std::optional<std::remove_cvref_t<decltype(schedule.*field)>> ScheduleOverrides::*;
        if (const auto& value = overrides.*std::get<Override>(knob.over)) schedule.*field = *value;
      },
      knob.field);
  return check_value(knob, schedule);
}

Status set_value(const Knob& knob, std::string_view text, Schedule& schedule) {
  const bool done = std::visit([&](auto field) { return parse(knob, text, schedule.*field); }, knob.field);
  return done ? Status() : refuse(knob, text);
}

Status check_value(const Knob& knob, const Schedule& schedule) {
  const bool legal = std::visit([&](auto field) { return is_legal(knob, schedule.*field); }, knob.field);
  return legal ? Status() : refuse(knob, value_of(knob, schedule));
}

}  // namespace strew::inline v0
