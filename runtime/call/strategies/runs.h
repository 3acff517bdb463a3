// Strategy runs: chunks of sorted index positions, cut where the destination changes.
#pragma once

#include "runtime/call/strategies/owners.h"

namespace strew {

/// Ok, or unsupported with the reason.
Status runs_legal(const Plan& plan);

void run_runs(Executor::Team& team, const OwnerCall& call);

}  // namespace strew
