// How large a call must be for several threads: the rules that the executor follows (runtime/call/executor), and that the cost model
// takes into account when it compares schedules (schedules/costs).
#pragma once

#include <algorithm>
#include <cstdint>

namespace strew::inline v0 {

/// The nanoseconds that one thread needs for so many index positions and bytes of windows, roughly: two nanoseconds per position, and 16
/// bytes of cached data per nanosecond. Saturates.
inline int64_t estimate(int64_t positions, int64_t bytes) {
  constexpr int64_t kMost = int64_t{1} << 40;
  return std::min(positions, kMost / 2) * 2 + std::min(bytes, kMost) / 16;
}
/// A call uses one thread per so many nanoseconds of estimated work. On Zen 3, a second thread pays from 1.5 us of work if the two share a
/// cache, and from 8 us if not.
inline constexpr int64_t kThreadNanoseconds = 4000;
/// Index positions from which on strategies that look at destinations (owner, radix, runs) repay their barriers. With fewer, one thread
/// runs the call.
inline constexpr int64_t kOwnerPositions = 2048;
/// Bytes of the result: every piece of this size has one owner.
inline constexpr int64_t kOwnerPieceBytes = 4096;

}  // namespace strew::inline v0
