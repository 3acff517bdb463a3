// Strategy window: cuts the first window loop into chunks. Legal if two iterations of that loop never write one
// destination: rows (windows coincide or are disjoint), slice updates, gathers, and general windows whose first loop is
// over a dim that no index moves. Every thread visits the positions in order, so the order per destination is kept. The
// work on indices is done once per thread; the strategy pays from about 64 bytes of window per thread on, and skew does
// not slow it. Tested by tests/unit/schedules/schedule_test.cc.
#include <algorithm>
#include <cmath>

#include "schedules/strategies/strategy.h"

namespace strew::inline v0 {

Status legal_window(const Plan& plan) {
  STREW_TRY(whole_bytes(plan, Strategy::window));
  if (plan.window.empty()) return unsupported("strategy window: the window has one element");
  if (!plan.gather && plan.kind == PlanKind::general && plan.window.front().move().touches)
    return unsupported("strategy window: windows may overlap partly along the first window loop (kind general)");
  return {};
}

/// Two threads that go over the same rows at the same time take lines from each other, because each core also prefetches the neighbours of
/// its own lines. That shows where both work on a row at nearly the same time: if its lines are in a cache, or rows follow one another.
double taken_lines(const CostQuestion& q, double threads) {
  const double caches =
      threads * static_cast<double>(q.target.l2_bytes) + static_cast<double>(q.target.l3_bytes) * q.target.costs.last_level_share;
  const double near = std::min(1.0, caches / std::max(1.0, q.work.table_bytes));
  return q.work.positions * std::max(near, q.work.in_order) * q.target.costs.transfer_ns;
}

Prediction cost_window(const CostQuestion& q) {
  const double parts = std::min<double>(q.threads, std::max(1.0, q.work.first_extent));
  const double largest = std::ceil(q.work.first_extent / parts) / std::max(1.0, q.work.first_extent);
  Prediction p = cost_of_share(q, {1, largest, static_cast<int>(parts)});
  p[CostTerm::threads] =
      cost_of_phases(q, 1) + (parts > 1 && !(q.work.gathers && q.schedule.nontemporal) ? taken_lines(q, parts) : 0);
  return p;
}

}  // namespace strew::inline v0
