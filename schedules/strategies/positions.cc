// Strategy positions: threads share out the index positions. Legal when no destination has two writers: a gather, a slice update (batching
// dims give each position its own slab), destinations known to be unique, or whole slabs of positions where batching dims lead. The order of
// updates per destination is then trivial, so the bits do not depend on the split. Cost: no index work at all, the best split where it is
// legal. Tested by tests/unit/schedule_test.cc.
#include "schedules/strategies/strategy.h"

namespace strew {

Status legal_positions(const Plan& plan) {
  STREW_TRY(whole_bytes(plan, Strategy::positions));
  if (plan.gather || plan.kind == PlanKind::slice_update || plan.unique.holds || slab_loops(plan) > 0) return {};
  return unsupported("strategy positions: two positions may touch one destination (kind " + std::string(name(plan.kind)) +
                     ", no unique_indices)");
}

std::vector<EntryKind> entries_positions(const Plan&) { return {}; }

}  // namespace strew
