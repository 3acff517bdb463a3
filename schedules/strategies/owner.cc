// Strategy owner: every destination has one owner, a thread that reads all indices and applies the updates of its
// destinations in order. This file also has the rule that owner, radix and runs share. Tested by
// tests/unit/schedules/schedule_test.cc and tests/unit/runtime/call/strategies/owner_test.cc.
#include <algorithm>

#include "base/call_costs.h"
#include "schedules/strategies/owners.h"
#include "schedules/strategies/strategy.h"

namespace strew::inline v0 {

Status legal_owners(const Plan& plan, Strategy strategy) {
  const auto refuse = [&](const std::string& why) { return unsupported("strategy " + std::string(name(strategy)) + ": " + why); };
  if (plan.gather) return refuse("a gather has no destinations to own");
  if (plan.kind != PlanKind::row && plan.kind != PlanKind::element)
    return refuse("windows of kind " + std::string(name(plan.kind)) + " do not coincide");
  STREW_TRY(whole_bytes(plan, strategy));
  if (!plan.keys)
    return refuse("no number stands for a destination in all results: their strides have different ratios or signs");
  return {};
}

Status legal_owner(const Plan& plan) { return legal_owners(plan, Strategy::owner); }

double owned_share(const CostQuestion& q) {
  return 1 / std::clamp(q.work.table_bytes / kOwnerPieceBytes, 1.0, static_cast<double>(q.threads));
}

/// Every thread computes all keys, and takes its updates from a queue.
Prediction cost_owner(const CostQuestion& q) {
  const double mine = owned_share(q);
  Prediction p = cost_of_share(q, {mine, 1, q.threads, true});
  p[CostTerm::stream] *= kGaps;
  // The queue is written and read, and its positions are no longer one loop.
  p[CostTerm::keys] = q.work.positions * (q.target.costs.key_ns + mine * (q.target.costs.key_ns + q.target.costs.position_ns));
  p[CostTerm::threads] = cost_of_phases(q, 1);
  return p;
}

}  // namespace strew::inline v0
