// Strategy owner: every destination has one owner, a thread that reads all indices and applies the updates of its
// destinations in order. This file also has the rule that owner, radix and runs share. Tested by
// tests/unit/schedules/schedule_test.cc and tests/unit/runtime/call/strategies/owner_test.cc.
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

}  // namespace strew::inline v0
