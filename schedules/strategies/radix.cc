// Strategy radix: a stable parallel radix partition of the positions by destination; one thread applies each bucket in
// position order. Legal if strategy owner is, with the same entries. Tested by tests/unit/schedules/schedule_test.cc and
// tests/unit/runtime/call/strategies/radix_test.cc.
#include "schedules/strategies/owners.h"
#include "schedules/strategies/strategy.h"

namespace strew::inline v0 {

Status legal_radix(const Plan& plan) { return legal_owners(plan, Strategy::radix); }
}  // namespace strew::inline v0
