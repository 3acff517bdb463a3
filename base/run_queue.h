// How long this process's threads have waited for a core. A measurement that compares the time before and after knows whether something else
// ran on the machine meanwhile, and can be thrown away. Tested by tests/unit/base/run_queue_test.cc.
#pragma once

#include <chrono>
#include <optional>

#include "base/units.h"

namespace strew::inline v0 {

/// The time for which the threads that the process has now were ready to run and had no core, since each began. Nothing where the system
/// does not tell (Linux tells in /proc/self/task/*/schedstat).
std::optional<Nanoseconds> waited_for_cores();

/// What was measured while the threads waited for more than this part of the time was measured on a busy host.
inline constexpr double kMostWaiting = 0.03;

/// Whether something else has kept the process's threads from the cores since it was made.
class HostWatch {
 public:
  /// The time for which threads waited over the time that has passed; 0 where the system does not tell.
  double waiting() const;
  bool was_busy() const { return waiting() > kMostWaiting; }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::optional<Nanoseconds> before_ = waited_for_cores();
};

}  // namespace strew::inline v0
