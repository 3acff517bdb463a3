// How long this process's threads have waited for a core. A measurement that compares the time before and after knows whether something else
// ran on the machine meanwhile, and can be thrown away. Tested by tests/unit/run_queue_test.cc.
#pragma once

#include <optional>

#include "base/units.h"

namespace strew::inline v0 {

/// The time for which the threads that the process has now were ready to run and had no core, since each began. Nothing where the system
/// does not tell (Linux tells in /proc/self/task/*/schedstat).
std::optional<Nanoseconds> waited_for_cores();

/// What was measured while the threads waited for more than this part of the time was measured on a busy host.
inline constexpr double kMostWaiting = 0.03;

}  // namespace strew::inline v0
