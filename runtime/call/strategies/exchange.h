// Strategy exchange: as owner, but every index is read by one thread only, which hands it to its owner.
#pragma once

#include "runtime/call/strategies/owners.h"

namespace strew {

/// The most scratch a call borrows.
int64_t exchange_bytes(int threads);

void run_exchange(Executor::Team& team, Scratch& scratch, const OwnerCall& call);

}  // namespace strew
