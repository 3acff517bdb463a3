// Strategy owner: every thread owns a part of the destinations and applies, in order, the positions that go there.
#pragma once

#include "runtime/call/strategies/owners.h"

namespace strew {

void run_owner(Executor::Team& team, const OwnerCall& call);

}  // namespace strew
