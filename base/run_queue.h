// How long this process's threads have waited for a core. A measurement that compares the time before and after knows whether something else
// ran on the machine meanwhile, and can be thrown away. Tested by tests/unit/run_queue_test.cc.
#pragma once

#include <optional>

#include "base/units.h"

namespace strew::inline v0 {

/// The time for which the threads that the process has now were ready to run and had no core, since each began. Nothing where the system
/// does not tell (Linux tells in /proc/self/task/*/schedstat).
std::optional<Nanoseconds> waited_for_cores();

}  // namespace strew::inline v0
