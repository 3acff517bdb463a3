// Numbers with units. A time is a Nanoseconds, which no plain number converts to: a factor or a count that is passed for a time does not
// compile. Costs (strew/machine_costs.h, base/call_costs.h) are floating-point numbers of nanoseconds while they are multiplied and added;
// whole_ns() makes a time of them where a decision is taken. Tested by tests/unit/executor_test.cc.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace strew::inline v0 {

using Nanoseconds = std::chrono::duration<int64_t, std::nano>;

/// An estimate without its fraction, from 0 to `most`, which is at most 2^53: estimates grow beyond every integer. 0 if it is not a number.
inline int64_t whole(double estimate, int64_t most) {
  return static_cast<int64_t>(std::min(std::max(0.0, estimate), static_cast<double>(most)));
}
/// So many nanoseconds, 0 or more, as a time whose sums cannot overflow. What is not a number is the longest time.
inline Nanoseconds whole_ns(double nanoseconds) { return Nanoseconds(static_cast<int64_t>(std::min(1e12, nanoseconds))); }

/// The time as a factor of costs.
inline double to_ns(Nanoseconds time) { return static_cast<double>(time.count()); }

}  // namespace strew::inline v0
