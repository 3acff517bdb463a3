// Numbers with units. A time is a Nanoseconds, which no plain number converts to: a factor or a count that is passed for a time does not
// compile. Costs (strew/machine_costs.h, base/call_costs.h) are floating-point numbers of nanoseconds while they are multiplied and added;
// whole_ns() makes a time of them where a decision is taken. Tested by tests/unit/executor_test.cc.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace strew::inline v0 {

using Nanoseconds = std::chrono::duration<int64_t, std::nano>;

/// So many nanoseconds as a time whose sums cannot overflow.
inline Nanoseconds whole_ns(double nanoseconds) { return Nanoseconds(static_cast<int64_t>(std::min(nanoseconds, 1e12))); }

/// The time as a factor of costs.
inline double to_ns(Nanoseconds time) { return static_cast<double>(time.count()); }

}  // namespace strew::inline v0
