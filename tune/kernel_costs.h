// The costs of kernels besides memory, measured on kernels whose data is in the first-level cache.
#pragma once

#include "strew/machine_costs.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// Sets position_ns, vector_ns, key_ns, chain_ns and call_ns. Fails if no backend makes code for this machine.
Status measure_kernels(MachineCosts& costs);
/// Sets transfer_ns, fork_join_ns and wake_ns, on an executor with `cores` threads, by phases in which all threads took part. Leaves
/// them as they are where other programs have the cores.
Status measure_threads(int cores, MachineCosts& costs);

}  // namespace strew::inline v0
