// Strategy runs: chunks of sorted index positions, cut where the destination changes.
#pragma once

#include "runtime/call/strategies/owners.h"

namespace strew {

void run_runs(Executor::Team& team, const OwnerCall& call);

}  // namespace strew
