// Strategy positions: cuts the index positions into chunks. Legal if no destination can be written from two chunks: in
// gathers; in slice updates (batching dims give each position a part of its own); if destinations are known to be
// unique; and if the leading position loops are over batching dims, because chunks are then cut between their
// iterations. So updates of one destination keep their order, and the bits do not depend on the number of chunks. No
// thread repeats work on indices; where this strategy is legal, no other is faster. Tested by
// tests/unit/schedules/schedule_test.cc.
#include <algorithm>

#include "schedules/strategies/strategy.h"

namespace strew::inline v0 {

Status legal_positions(const Plan& plan) {
  STREW_TRY(whole_bytes(plan, Strategy::positions));
  if (plan.gather || plan.kind == PlanKind::slice_update || plan.unique.holds || slab_loops(plan) > 0) return {};
  return unsupported("strategy positions: two positions may touch one destination (kind " + std::string(name(plan.kind)) +
                     ", no unique_indices)");
}

/// Positions of one batch stay together where batching dims are what makes the strategy legal; where it is legal anyway, they are many.
Prediction cost_positions(const CostQuestion& q) {
  const double parts = std::min<double>(q.threads, std::max(1.0, q.work.positions));
  Prediction p = cost_of_share(q, {1 / parts, 1, static_cast<int>(parts)});
  p[CostTerm::threads] = cost_of_phases(q, 1);
  return p;
}

}  // namespace strew::inline v0
