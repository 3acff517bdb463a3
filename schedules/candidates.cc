// See schedule.h. Which values of a knob can pay is known from measurements: of prefetch distances, all from 8 to 32 rows
// are within a fifth of the best one, elements want 32 to 128, and below 8 there is too little time for a line to arrive. Rows that are looked up are
// done sooner, so that 8 of them are too few: sums of rows of 64 bytes take 0.85 of the time with 16 (Zen 4), those of 2 KiB as long.
#include <algorithm>
#include <limits>

#include "base/machine.h"
#include "schedules/costs/predict.h"
#include "schedules/costs/workload.h"
#include "schedules/knobs.h"
#include "schedules/schedule.h"
#include "schedules/stores.h"
#include "schedules/strategies/strategy.h"

namespace strew::inline v0 {
namespace {

std::vector<KnobChoice> strategies_of(const Plan& plan) {
  std::vector<KnobChoice> all;
  for (const Strategy strategy : kStrategies)
    all.push_back({static_cast<int>(strategy), traits_of(strategy).what, legal(strategy, plan)});
  return all;
}

/// Ok if the plan and the target allow the value.
Status legal_vector_bytes(int bytes, const Target& target) {
  if (bytes <= target.vector_bytes) return {};
  return invalid_argument("vector_bytes=" + std::to_string(bytes) + ", expected at most " + std::to_string(target.vector_bytes) +
                          " on " + print(target));
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

/// A slice update has few positions, and a processor prefetches long runs by itself; but where look-ups read, it does not know.
std::vector<KnobChoice> distances_of(const Plan& plan) {
  std::vector<KnobChoice> all = {{0, "the table is in cache, or the processor looks far enough ahead by itself", {}}};
  if (plan.kind == PlanKind::slice_update && plan.sources.size() <= 1) return all;
  if (!plan.window.empty() && plan.sources.size() <= 1) all.push_back({8, "long rows", {}});
  all.push_back({16, "rows", {}});
  all.push_back({32, "short rows and elements", {}});
  all.push_back({64, "elements", {}});
  if (plan.window.empty()) all.push_back({128, "elements of tables in far memory", {}});
  return all;
}

std::vector<KnobChoice> stores_of(const Plan& plan) {
  std::vector<KnobChoice> all = {{0, "what is written is read again soon, or fits the caches", {}}};
  Status status = legal_nontemporal(plan);
  if (status.ok() && !writes_whole_lines(plan))
    status = unsupported(
        "nontemporal=true: runs are not known to be whole cache lines, so that lines would be read and written in parts");
  if (status.ok() && !moves_static(plan))
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

/// Those that candidates() combines.
ScheduleChoices choices_for_candidates(const Plan& plan, const Target& target) {
  return {strategies_of(plan), widths_of(target), unrolls_of(plan), distances_of(plan), stores_of(plan), {}, {}};
}

}  // namespace

/// The values that a knob may have are in its row of schedules/knobs.cc; the rest depends on the plan and the target. This decides what is legal
/// only, choose_schedule() what is fast. Every message starts with the knob and its value.
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
  ScheduleChoices all = choices_for_candidates(plan, target);
  all.tables = tables_of(plan);
  all.scratch_mib = scratch_of(plan);
  return all;
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

// ---- choose_schedule: the default schedule of a plan is its cheapest candidate by the cost model (costs/predict.h).
//
// An extent that only the call knows counts as a large one, because the executor decides at the call how many threads the call
// is worth (runtime/call/executor). Knobs that the caller sets take precedence (backends/pipeline). Tested by
// tests/unit/schedules/schedule_test.cc.

namespace {

/// A candidate must be this much faster than a simpler one, which comes before it.
constexpr double kWorthTheStep = 0.98;

/// Does another number of private tables give other bits? Then whether they are used must not depend on the machine or on its threads.
bool tables_decide_bits(const Plan& plan) { return is_legal(Strategy::private_tables, plan) && !combines_exactly(plan); }

/// The strategy that is the fastest by far for large calls on a table of these extents; `chosen` if there is none.
Strategy best_of_large_calls(const Plan& plan, const Target& target, int threads, const Schedule& chosen, double table) {
  constexpr double kMoved = 4 << 20;  // index positions that only the call knows, in a large call
  constexpr double kByFar = 0.8;      // further entries take time to compile
  const Workload work = workload_of(plan, {kMoved, table});
  const auto cost_with = [&](Strategy strategy) {
    Schedule schedule = chosen;
    schedule.strategy = strategy;
    return predict({work, schedule, target, threads}).total();
  };
  Strategy best = chosen.strategy;
  double least = kByFar * cost_with(best);
  for (const Strategy strategy : kStrategies) {
    if (strategy == chosen.strategy || !is_legal(strategy, plan)) continue;
    const double nanoseconds = cost_with(strategy);
    if (nanoseconds >= least) continue;
    least = nanoseconds;
    best = strategy;
  }
  return best;
}

/// Lets calls choose among strategies where the plan leaves something open that decides: shapes, or how many threads there are and come.
/// Whether stores bypass the caches is left to calls wherever that may pay: only they find in a cache what they write, or not. A slice update
/// whose positions only the call knows may have a single one; then threads share its window. A table may be small or large, and a kernel
/// with the entries of strategy owner can run private tables, too.
void choose_at_call(const Plan& plan, const Target& target, int threads, Schedule& best) {
  best.adapts = may_stream(plan, best.strategy);
  if (tables_decide_bits(plan) || threads <= 1) return;
  constexpr double kSmallTable = 1 << 10, kLargeTable = 4 << 20;  // extents of dims that only the call knows
  const bool is_open = has_open_extents(plan);
  if (is_open && plan.kind == PlanKind::slice_update) {
    if (is_legal(Strategy::window, plan)) best.strategy = Strategy::window;
  } else if (is_open && !plan.gather) {
    const Strategy small = best_of_large_calls(plan, target, threads, best, kSmallTable),
                   large = best_of_large_calls(plan, target, threads, best, kLargeTable);
    if (large != best.strategy) best.strategy = large;
    if (small != best.strategy && best.strategy == Strategy::sequential) best.strategy = small;
    if (best.strategy == Strategy::private_tables && is_legal(Strategy::owner, plan)) best.strategy = Strategy::owner;
  }
  best.adapts = is_open || best.strategy != Strategy::sequential || may_stream(plan, best.strategy);
}

}  // namespace

int planned_threads(const Target& target, int max_threads) {
  return std::clamp(max_threads > 0 ? max_threads : target.cores, 1, kMostThreads);
}

std::vector<Schedule> default_candidates(const Plan& plan, const Target& target, int threads) {
  ScheduleChoices choices = choices_for_candidates(plan, target);
  const bool decides = tables_decide_bits(plan), uses = decides && relaxed_sum_uses_tables(plan);
  std::erase_if(choices.strategy, [&](const KnobChoice& choice) {
    const auto strategy = static_cast<Strategy>(choice.value);
    if (decides && traits_of(strategy).may_group != uses) return true;
    // With one thread, all strategies but that of private tables are the same loop.
    return threads <= 1 && strategy != Strategy::sequential && !(decides && uses);
  });
  return candidates(choices);
}

Schedule choose_schedule(const Plan& plan, const Target& target, int max_threads, std::string* why) {
  const int threads = planned_threads(target, max_threads);
  const Workload work = workload_of(plan);
  Schedule best;
  Prediction least;
  double nanoseconds = std::numeric_limits<double>::infinity();
  for (const Schedule& schedule : default_candidates(plan, target, threads)) {
    const Prediction prediction = predict({work, schedule, target, threads});
    if (prediction.total() >= nanoseconds * kWorthTheStep) continue;
    nanoseconds = prediction.total();
    best = schedule;
    least = prediction;
  }
  const Strategy cheapest = best.strategy;
  choose_at_call(plan, target, threads, best);
  if (why != nullptr)
    *why = best.strategy == cheapest
               ? print(least)
               : "calls choose by their shapes and threads; " + std::string(name(cheapest)) + " would take " + print(least);
#ifdef STREW_CHECKED
  best.checked = true;
#endif
  return best;
}

bool updates_may_be_few(const Plan& fold) {
  const Workload w = workload_of(fold);
  return w.is_open || w.moved_bytes < 2 * w.init_bytes;
}

}  // namespace strew::inline v0
