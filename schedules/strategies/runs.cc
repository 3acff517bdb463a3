// Strategy runs: chunks of sorted positions, cut where the destination changes. Legal if equal destinations are
// certainly adjacent: rows and elements, one position loop, indices hinted as sorted, and a policy that keeps their
// order. Policy wrap and negative normalisation do not keep it; policy clamp does for one component. Tested by
// tests/unit/runtime/call/strategies/runs_test.cc.
#include <algorithm>

#include "schedules/strategies/owners.h"
#include "schedules/strategies/strategy.h"

namespace strew::inline v0 {

Status legal_runs(const Plan& plan) {
  STREW_TRY(legal_owners(plan, Strategy::runs));
  const auto refuse = [](const std::string& why) { return unsupported("strategy runs: " + why); };
  if (!plan.primary().sorted.holds) return refuse("indices are not known to be sorted (no indices_are_sorted)");
  if (plan.positions.size() != 1 || slab_loops(plan) > 0) return refuse("positions are not one loop over unbatched indices");
  if (std::ranges::any_of(plan.primary().components, &Component::normalize_negative))
    return refuse("negative indices count from the end, which breaks their order");
  if (plan.primary().oob == OobPolicy::wrap || (plan.primary().oob == OobPolicy::clamp && plan.primary().components.size() > 1))
    return refuse("policy " + std::string(name(plan.primary().oob)) + " breaks the order of indices");
  return {};
}

}  // namespace strew::inline v0
