// choose_schedule: the default schedule of a plan is its cheapest candidate (candidates.h) by the cost model (costs/predict.h).
//
// An extent that only the call knows counts as a large one, because the executor decides at the call how many threads the call
// is worth (runtime/call/executor). Knobs that the caller sets take precedence (backends/pipeline). Tested by
// tests/unit/schedule_test.cc.
#include <algorithm>
#include <limits>

#include "base/machine.h"
#include "schedules/candidates.h"
#include "schedules/costs/predict.h"
#include "schedules/schedule.h"
#include "schedules/strategies/private_tables.h"
#include "schedules/strategies/strategy.h"

namespace strew::inline v0 {
namespace {

/// A candidate must be this much faster than a simpler one, which comes before it.
constexpr double kWorthIt = 0.98;

/// Does another number of private tables give other bits? Then whether they are used must not depend on the machine or on its threads.
bool tables_decide_bits(const Plan& plan) { return legal_private_tables(plan).ok() && !combines_exactly(plan); }

}  // namespace

int planned_threads(const Target& target, int max_threads) {
  return std::clamp(max_threads > 0 ? max_threads : target.cores, 1, kMostThreads);
}

std::vector<Schedule> default_candidates(const Plan& plan, const Target& target, int threads) {
  ScheduleChoices choices = schedule_choices(plan, target);
  const bool decides = tables_decide_bits(plan), uses = decides && relaxed_sum_uses_tables(plan);
  std::erase_if(choices.strategy, [&](const KnobChoice& choice) {
    const auto strategy = static_cast<Strategy>(choice.value);
    if (decides && (strategy == Strategy::private_tables) != uses) return true;
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
    if (prediction.total() >= nanoseconds * kWorthIt) continue;
    nanoseconds = prediction.total();
    best = schedule;
    least = prediction;
  }
  if (why != nullptr) *why = print(least);
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
