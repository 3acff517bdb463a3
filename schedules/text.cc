// The text of a schedule: knob=value pairs with commas, every knob, in one order, so equal schedules print equal text.
//
// parse_schedule takes any subset in any order over a base. Tested by tests/unit/schedule_test.cc.
#include <charconv>
#include <iterator>

#include "schedules/schedule.h"

namespace strew {
namespace {

Status bad_value(std::string_view knob, std::string_view value, std::string_view expected) {
  return invalid_argument("schedule: " + std::string(knob) + "=" + std::string(value) + ", expected " + std::string(expected));
}

Status set_int(std::string_view knob, std::string_view value, int& out) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), out);
  if (error != std::errc() || end != value.data() + value.size()) return bad_value(knob, value, "a whole number");
  return {};
}

/// The one range that is checked here as well as in check_schedule(): the command line then answers every bad number of threads alike.
Status set_threads(std::string_view value, int& out) {
  constexpr int kMost = 1024;
  int threads = 0;
  if (!set_int("threads", value, threads).ok() || threads < 1 || threads > kMost) return bad_value("threads", value, "1..1024");
  out = threads;
  return {};
}

Status set_bool(std::string_view knob, std::string_view value, bool& field) {
  if (value != "true" && value != "false") return bad_value(knob, value, "true or false");
  field = value == "true";
  return {};
}

std::string strategy_names() {
  std::string list;
  for (Strategy strategy : kStrategies)
    list += (list.empty() ? "" : strategy == *std::rbegin(kStrategies) ? " or " : ", ") + std::string(name(strategy));
  return list;
}

Status set_knob(std::string_view knob, std::string_view value, Schedule& schedule) {
  if (knob == "strategy") {
    for (Strategy strategy : kStrategies) {
      if (name(strategy) != value) continue;
      schedule.strategy = strategy;
      return {};
    }
    return bad_value(knob, value, strategy_names());
  }
  if (knob == "threads") return set_threads(value, schedule.threads);
  if (knob == "vector_bytes") return set_int(knob, value, schedule.vector_bytes);
  if (knob == "unroll") return set_int(knob, value, schedule.unroll);
  if (knob == "prefetch") return set_int(knob, value, schedule.prefetch);
  if (knob == "tables") return set_int(knob, value, schedule.tables);
  if (knob == "scratch_mib") return set_int(knob, value, schedule.scratch_mib);
  if (knob == "nontemporal") return set_bool(knob, value, schedule.nontemporal);
  if (knob == "checked") return set_bool(knob, value, schedule.checked);
  if (knob == "autoscheduler")
    return invalid_argument(
        "schedule: autoscheduler=" + std::string(value) +
        ", but Halide's autoschedulers are not used: their scatters sum in no fixed order and copy inputs, their gathers are the "
        "loops written here with unsafe ends (docs/backends.md); set vector_bytes and unroll instead");
  return invalid_argument(
      "schedule: unknown knob '" + std::string(knob) +
      "', expected strategy, threads, vector_bytes, unroll, prefetch, nontemporal, tables, scratch_mib or checked");
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
  return "strategy=" + std::string(name(schedule.strategy)) + ",threads=" + std::to_string(schedule.threads) +
         ",vector_bytes=" + std::to_string(schedule.vector_bytes) + ",unroll=" + std::to_string(schedule.unroll) +
         ",prefetch=" + std::to_string(schedule.prefetch) + ",nontemporal=" + (schedule.nontemporal ? "true" : "false") +
         ",tables=" + std::to_string(schedule.tables) + ",scratch_mib=" + std::to_string(schedule.scratch_mib) +
         (schedule.checked ? ",checked=true" : "");
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

}  // namespace strew
