// Strategy positions: cuts the index positions into chunks. Legal if no destination can be written from two chunks: in
// gathers; in slice updates (batching dims give each position a part of its own); if destinations are known to be
// unique; and if the leading position loops are over batching dims, because chunks are then cut between their
// iterations. So updates of one destination keep their order, and the bits do not depend on the number of chunks. No
// thread repeats work on indices; where this strategy is legal, no other is faster. Tested by
// tests/unit/schedules/schedule_test.cc.
#include "schedules/strategies/strategy.h"

namespace strew::inline v0 {

Status legal_positions(const Plan& plan) {
  STREW_TRY(whole_bytes(plan, Strategy::positions));
  if (plan.gather || plan.kind == PlanKind::slice_update || plan.unique.holds || slab_loops(plan) > 0) return {};
  return unsupported("strategy positions: two positions may touch one destination (kind " + std::string(name(plan.kind)) +
                     ", no unique_indices)");
}

}  // namespace strew::inline v0
