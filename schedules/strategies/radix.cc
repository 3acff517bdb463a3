// Strategy radix: a stable parallel radix partition of the positions by destination; one thread applies each bucket in
// position order. Legal if strategy owner is, with the same entries. Tested by tests/unit/schedules/schedule_test.cc and
// tests/unit/runtime/call/strategies/radix_test.cc.
#include "base/call_costs.h"
#include "schedules/strategies/owners.h"
#include "schedules/strategies/strategy.h"

namespace strew::inline v0 {

Status legal_radix(const Plan& plan) { return legal_owners(plan, Strategy::radix); }
/// A thread computes the keys of its positions twice, and writes and reads a list of them; there are six phases.
Prediction cost_radix(const CostQuestion& q) {
  constexpr double kKeys = 8;  // in key_ns: two keys, a place in the list, and what another core writes of the list
  const double mine = 1.0 / q.threads;
  Prediction p = cost_of_share(q, {owned_share(q), 1, q.threads, true});
  p[CostTerm::stream] *= kGaps;
  p[CostTerm::keys] = q.work.positions * q.target.costs.key_ns * kKeys * mine;
  p[CostTerm::threads] = cost_of_phases(q, 6);
  return p;
}

}  // namespace strew::inline v0
