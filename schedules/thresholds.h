// The numbers of the heuristic that are neither the plan's nor the target's, each with what it was measured by. Cache sizes and cores are the
// target's (schedules/target.h); from what size on a call uses threads is decided again at the call, by runtime/call/executor/limits.h.
//
// "Lab" is the set of hand-written kernels that came before strew, on Zen 5 with DDR5; "suite" and "overhead" are `./dev bench`, on Zen 3.
#pragma once

#include <array>
#include <cstdint>

namespace strew::thresholds {

/// Bytes moved by a call: 1.5 us of one thread's work, where a second one starts to pay (lab: hot copies).
inline constexpr int64_t kThreadsPayBytes = 64 << 10;
/// Bytes of a window per thread from which sharing out columns beats dealing destinations to owners (lab: rows added, 256 B to 4 KiB).
inline constexpr int64_t kWideShare = 256;
/// Updates per element from which filling and combining private tables is repaid (lab: histograms).
inline constexpr int64_t kUpdatesPerElement = 3;
/// Fewer positions than this are not worth a barrier (lab; ExecutionLimits::owner_positions asks again at the call).
inline constexpr int64_t kOwnerPositions = 2048;
/// Threads from which reading each index once (strategy radix) beats reading all on every thread (strategy owner). Not measured on a machine
/// with as many cores: on each of eight threads a scan costs what a thread's share of the updates does.
inline constexpr int kManyThreads = 8;

/// Prefetch: index positions to look ahead, by bytes of a window (lab: tables beyond the second-level cache); single elements look farthest.
struct LookAhead {
  int64_t window_bytes;
  int positions;
};
inline constexpr std::array<LookAhead, 4> kLookAhead = {{{1024, 8}, {128, 16}, {64, 32}, {0, 64}}};
/// Fewer positions than this end before a prefetch arrives.
inline constexpr int64_t kPrefetchPositions = 16;

/// Streaming stores pay from so many runs on: with fewer the table's lines are still wanted (suite: decode against prefill).
inline constexpr int64_t kStreamingRuns = 64;
/// A gather's output bypasses the caches from this part of the last-level cache on (suite: gathers).
inline constexpr int64_t kStreamingGatherShare = 4;
/// Rows share the last-level cache with their updates: a table of this part of it no longer fits (suite: rows).
inline constexpr int64_t kStreamingRowShare = 2;
/// Single elements of a table in this part of the last-level cache cost one thread what a scan of the keys does (lab: elements).
inline constexpr int64_t kCachedElementShare = 2;

}  // namespace strew::thresholds
