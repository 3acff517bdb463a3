// measure_costs: finds the costs of this machine (strew/machine_costs.h) in a few seconds. `strew target --measure` keeps them.
#pragma once

#include <string>

#include "base/machine.h"
#include "strew/machine_costs.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// Runs on up to machine.cores threads, in about four seconds, with four times the last-level cache of memory (at most 512 MiB).
/// What cannot be measured, because memory is short or no backend makes code, is taken from derived_costs(). Fails if the
/// machine has changed under it so much that a number makes no sense.
Expected<MachineCosts> measure_costs(const Machine& machine);

struct KeptCosts {
  MachineCosts costs;
  std::string path;    ///< of the file that keeps them; empty: nothing was kept, because other programs had the cores
  double waiting = 0;  ///< the share of the time in which the measuring thread waited for a core
};
/// Measures this machine and writes its costs file (costs_path()), which processes that begin later read. Fails if there is no such file
/// or it cannot be written; then the one that was there is as it was. So it is if the measuring thread waited for a core for more than 3 %
/// of the time, unless `even_if_busy`.
Expected<KeptCosts> measure_and_keep_costs(bool even_if_busy = false);

}  // namespace strew::inline v0
