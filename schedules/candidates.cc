// See candidates.h. Which values of a knob can pay is known from measurements: of prefetch distances, all from 8 to 32 rows
// are within a fifth of the best one, elements want 32 to 128, and below 8 there is too little time for a line to arrive.
#include "schedules/candidates.h"

#include <algorithm>

#include "schedules/knobs.h"
#include "schedules/stores.h"
#include "schedules/strategies/private_tables.h"
#include "schedules/strategies/strategy.h"

namespace strew::inline v0 {
namespace {

std::vector<KnobChoice> strategies_of(const Plan& plan) {
  std::vector<KnobChoice> all;
  for (const Strategy strategy : kStrategies)
    all.push_back({static_cast<int>(strategy), traits_of(strategy).what, legal(strategy, plan)});
  return all;
}

std::vector<KnobChoice> widths_of(const Target& target) {
  std::vector<KnobChoice> all;
  for (const int bytes : {target.vector_bytes, target.vector_bytes / 2})
    if (bytes >= 16)
      all.push_back({bytes, bytes == target.vector_bytes ? "the target's widest" : "shorter tails of rows",
                     legal_vector_bytes(bytes, target)});
  return all;
}

std::vector<KnobChoice> unrolls_of(const Plan& plan) {
  if (plan.kind != PlanKind::element) return {{4, "vectors per iteration of a run, positions of short rows", {}}};
  return {{4, "positions per iteration", {}}, {8, "more positions at once, which hides their latency", {}}};
}

/// A slice update has few positions, and a processor prefetches long runs by itself.
std::vector<KnobChoice> distances_of(const Plan& plan) {
  std::vector<KnobChoice> all = {{0, "the table is in cache, or the processor looks far enough ahead by itself", {}}};
  if (plan.kind == PlanKind::slice_update) return all;
  if (!plan.window.empty()) all.push_back({8, "long rows", {}});
  all.push_back({16, "rows", {}});
  all.push_back({32, "short rows and elements", {}});
  all.push_back({64, "elements", {}});
  if (plan.window.empty()) all.push_back({128, "elements of tables in far memory", {}});
  return all;
}

/// Is it known before the call how many windows of which size it moves?
bool is_static(const Plan& plan) {
  const auto known = [](const Loop& loop) { return loop.extent.is_static(); };
  return std::all_of(plan.positions.begin(), plan.positions.end(), known) &&
         std::all_of(plan.window.begin(), plan.window.end(), known);
}

std::vector<KnobChoice> stores_of(const Plan& plan) {
  std::vector<KnobChoice> all = {{0, "what is written is read again soon, or fits the caches", {}}};
  Status status = legal_nontemporal(plan);
  if (status.ok() && !writes_whole_lines(plan))
    status = unsupported(
        "nontemporal=true: runs are not known to be whole cache lines, so that lines would be read and written in parts");
  if (status.ok() && !is_static(plan))
    status = unsupported("nontemporal=true: only the call knows whether it moves more than the caches hold");
  all.push_back({1, "what is written is far larger than the caches", status});
  return all;
}

/// The default comes first, and is legal for every plan, because a schedule has the knob whether its strategy reads it or not.
std::vector<KnobChoice> with_default(int value, std::string_view why, const std::vector<KnobChoice>& others) {
  std::vector<KnobChoice> all = {{value, why, {}}};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

std::vector<KnobChoice> tables_of(const Plan& plan) {
  Status status = legal(Strategy::private_tables, plan);
  if (status.ok() && !combines_exactly(plan))
    status = unsupported("tables: sums of order relaxed are grouped by their tables, so that another number gives other bits");
  constexpr std::string_view kFewer = "fewer tables to fill and merge", kMore = "a table for each of more threads";
  return with_default(Schedule{}.tables, "a table for each of eight threads",
                      {{2, kFewer, status}, {4, kFewer, status}, {16, kMore, status}, {32, kMore, status}, {64, kMore, status}});
}

std::vector<KnobChoice> scratch_of(const Plan& plan) {
  Status status;
  if (!is_legal(Strategy::radix, plan) && !is_legal(Strategy::private_tables, plan))
    status = unsupported("scratch_mib: no strategy that is legal here takes scratch memory");
  constexpr int kLittle = 16, kSome = 64, kMuch = 1024;  // each four times the one before, about the default
  constexpr std::string_view kLess = "leaves memory to others: more rounds, no large tables",
                             kMore = "large calls in fewer rounds";
  return with_default(Schedule{}.scratch_mib, "rounds are long enough to repay their barriers",
                      {{kLittle, kLess, status}, {kSome, kLess, status}, {kMuch, kMore, status}});
}

}  // namespace

Status legal_vector_bytes(int bytes, const Target& target) {
  if (bytes <= target.vector_bytes) return {};
  return invalid_argument("vector_bytes=" + std::to_string(bytes) + ", expected at most " + std::to_string(target.vector_bytes) +
                          " on " + print(target));
}

/// The values that a knob may have are in its row of schedules/knobs.cc; the rest depends on the plan and the target. This decides what is legal
/// only, heuristic.cc what is fast. Every message starts with the knob and its value.
Status check_schedule(const Schedule& schedule, const Plan& plan, const Target& target) {
  for (const Knob& knob : knobs()) STREW_TRY(check_value(knob, schedule));
  const auto in_schedule = [](const Status& status) {
    return status.ok() ? status : invalid_argument("schedule: " + status.message());
  };
  STREW_TRY(in_schedule(legal_vector_bytes(schedule.vector_bytes, target)));
  if (schedule.nontemporal) STREW_TRY(in_schedule(legal_nontemporal(plan)));
  return in_schedule(legal(schedule.strategy, plan));
}

ScheduleChoices schedule_choices(const Plan& plan, const Target& target) {
  return {strategies_of(plan), widths_of(target), unrolls_of(plan), distances_of(plan),
          stores_of(plan),     tables_of(plan),   scratch_of(plan)};
}

std::vector<Schedule> candidates(const ScheduleChoices& choices) {
  std::vector<Schedule> all = {Schedule{}};
  const auto cross = [&](const std::vector<KnobChoice>& values, auto set) {
    std::vector<Schedule> more;
    for (const Schedule& base : all) {
      for (const KnobChoice& choice : values) {
        if (!choice.legal.ok()) continue;
        more.push_back(base);
        set(more.back(), choice.value);
      }
    }
    all = std::move(more);
  };
  cross(choices.strategy, [](Schedule& s, int value) { s.strategy = static_cast<Strategy>(value); });
  cross(choices.vector_bytes, [](Schedule& s, int value) { s.vector_bytes = value; });
  cross(choices.unroll, [](Schedule& s, int value) { s.unroll = value; });
  cross(choices.prefetch, [](Schedule& s, int value) { s.prefetch = value; });
  cross(choices.nontemporal, [](Schedule& s, int value) { s.nontemporal = value != 0; });
  return all;
}

}  // namespace strew::inline v0
