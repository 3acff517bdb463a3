// The numbers of the heuristic that come neither from the plan nor from the target, each with the measurement that it
// is taken from. Cache sizes and cores are in include/strew/target.h. How large a call must be to use threads is
// decided again at the call, by runtime/call/executor/limits.h.
//
// "Lab" is a set of hand-written kernels that is older than strew, measured on Zen 5 with DDR5; "suite" and "overhead"
// are `./dev bench` on Zen 3.
#pragma once

#include <array>
#include <cstdint>

namespace strew::inline v0::thresholds {

/// Bytes moved by a call that take one thread 1.5 us, from which on a second thread pays (lab: hot copies).
inline constexpr int64_t kThreadsPayBytes = 64 << 10;
/// Bytes of a window per thread from which on cutting windows into columns is faster than assigning destinations to
/// owners (lab: rows added, 256 B to 4 KiB).
inline constexpr int64_t kWideShare = 256;
/// Updates per element from which on private tables repay filling and combining them (lab: histograms).
inline constexpr int64_t kUpdatesPerElement = 3;
/// With fewer positions a barrier does not pay (lab). ExecutionLimits::owner_positions decides again at the call.
inline constexpr int64_t kOwnerPositions = 2048;
/// Threads from which on reading each index once (strategy radix) is faster than reading all indices on every thread
/// (strategy owner). Not measured on a machine with that many cores: with eight threads, a scan costs each thread as
/// much as its share of the updates.
inline constexpr int kManyThreads = 8;

/// How many index positions to prefetch ahead, by the bytes of a window (lab: tables larger than the second-level
/// cache). Single elements are prefetched farthest ahead.
struct LookAhead {
  int64_t window_bytes;
  int positions;
};
inline constexpr std::array<LookAhead, 4> kLookAhead = {{{1024, 8}, {128, 16}, {64, 32}, {0, 64}}};
/// A call with fewer positions ends before a prefetch arrives.
inline constexpr int64_t kPrefetchPositions = 16;

/// Runs from which on streaming stores pay; with fewer, the table's lines are still needed in cache (suite: decode
/// against prefill).
inline constexpr int64_t kStreamingRuns = 64;
/// A gather's output bypasses the caches if it is at least 1/kStreamingGatherShare of the last-level cache (suite: gathers).
inline constexpr int64_t kStreamingGatherShare = 4;
/// Rows share the last-level cache with their updates, so a table of 1/kStreamingRowShare of it does not fit (suite: rows).
inline constexpr int64_t kStreamingRowShare = 2;
/// If a table of single elements fits in 1/kCachedElementShare of the last-level cache, updating an element costs one
/// thread as much as scanning its key (lab: elements).
inline constexpr int64_t kCachedElementShare = 2;

}  // namespace strew::inline v0::thresholds
