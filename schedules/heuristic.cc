// choose_schedule: the default schedule of a plan is its cheapest candidate (candidates.h) by the cost model (costs/predict.h).
//
// An extent that only the call knows counts as a large one, because the executor decides at the call how many threads the call
// is worth (runtime/call/executor). Knobs that the caller sets take precedence (backends/pipeline). Tested by
// tests/unit/schedules/schedule_test.cc.
#include <algorithm>
#include <limits>

#include "base/machine.h"
#include "schedules/candidates.h"
#include "schedules/costs/predict.h"
#include "schedules/schedule.h"
#include "schedules/stores.h"
#include "schedules/strategies/private_tables.h"
#include "schedules/strategies/strategy.h"

namespace strew::inline v0 {
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
  const bool is_open = workload_of(plan).is_open;
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
  ScheduleChoices choices = schedule_choices(plan, target);
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
