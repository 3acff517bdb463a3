// Numbers with units. The rule: of two numbers of different units that stand side by side in one signature, or in one aggregate that is filled by
// position, at most one is a plain number; the others have a type of this file. So a factor or a count that is passed for a time, bytes that are
// passed for elements, or threads for chunks do not compile. Numbers with a name of their own at every use (members such as
// ExecutionLimits::radix_block, knobs of schedules) stay plain.
//
//   Nanoseconds      a time
//   Bytes, Chunks    counts of one unit
//   EstimatedBytes, EstimatedTime    what a cost model computes with: fractions of a byte and of a nanosecond, and more than 64 bits hold
//
// Costs (strew/machine_costs.h, base/call_costs.h) are factors: floating-point numbers of nanoseconds while they are multiplied and added. whole_ns()
// makes a time of such a sum where a decision is taken. Tested by tests/unit/base/units_test.cc.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace strew::inline v0 {

/// So many of one unit. Plain numbers and other units do not convert to it, and it converts to none.
template <class Unit, class Number>
class Amount {
 public:
  constexpr Amount() = default;
  constexpr explicit Amount(Number count) : count_(count) {}
  constexpr Number count() const { return count_; }

  constexpr Amount operator+(Amount other) const { return Amount(count_ + other.count_); }
  constexpr Amount operator-(Amount other) const { return Amount(count_ - other.count_); }
  constexpr Amount operator*(Number times) const { return Amount(count_ * times); }
  constexpr Amount operator/(Number parts) const { return Amount(count_ / parts); }
  constexpr Number operator/(Amount other) const { return count_ / other.count_; }
  constexpr Amount& operator+=(Amount other) { return *this = *this + other; }
  // Not <=>, of which g++ 12 makes several branches where the numbers are floats: calls compare amounts.
  constexpr bool operator==(Amount other) const { return count_ == other.count_; }
  constexpr bool operator<(Amount other) const { return count_ < other.count_; }
  constexpr bool operator>(Amount other) const { return count_ > other.count_; }
  constexpr bool operator<=(Amount other) const { return count_ <= other.count_; }
  constexpr bool operator>=(Amount other) const { return count_ >= other.count_; }

 private:
  Number count_ = 0;
};

using Nanoseconds = std::chrono::duration<int64_t, std::nano>;
using Bytes = Amount<struct ByteUnit, int64_t>;
/// Parts of a phase (runtime/call/executor), each of which one thread runs.
using Chunks = Amount<struct ChunkUnit, int>;

using EstimatedTime = std::chrono::duration<double, std::nano>;
using EstimatedBytes = Amount<struct ByteUnit, double>;
constexpr EstimatedBytes estimated(Bytes bytes) { return EstimatedBytes(static_cast<double>(bytes.count())); }

/// An estimate without its fraction, from 0 to `most`, which is at most 2^53: estimates grow beyond every integer. 0 if it is not a number.
inline int64_t whole(double estimate, int64_t most) {
  return static_cast<int64_t>(std::min(std::max(0.0, estimate), static_cast<double>(most)));
}
/// So many nanoseconds, 0 or more, as a time whose sums cannot overflow. What is not a number is the longest time.
inline Nanoseconds whole_ns(double nanoseconds) { return Nanoseconds(static_cast<int64_t>(std::min(1e12, nanoseconds))); }

/// The time as a factor of costs.
inline double to_ns(Nanoseconds time) { return static_cast<double>(time.count()); }

}  // namespace strew::inline v0
