// CallCosts: what the executor (runtime/call) knows of the machine when a call has to decide how many threads it is worth, and which of its
// kernel's strategies is the fastest for its shapes. It is the cost model of schedules/costs with a few numbers per machine instead of
// thirty, so that a decision takes a few nanoseconds. Tested by
// tests/unit/runtime/call/strategies/choose_strategy_test.cc.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/units.h"
#include "strew/machine_costs.h"

namespace strew::inline v0 {

/// Ten seconds: what a phase costs at most, whatever a target says.
inline constexpr float kMostPhaseNs = 1e10F;

/// The part of the shorter of compute and memory that does not hide behind the longer.
inline constexpr double kUnhidden = 0.3;

/// Nanoseconds of one thread. The defaults are those of a server with Zen 3.
struct CallCosts {
  float position_ns = 0.6F;                                   ///< of an index position besides its window
  float key_ns = 0.6F;                                        ///< of a position's destination and its owner
  float vector_ns = 0.5F;                                     ///< of 64 bytes of a window: load, combine, store
  std::array<float, 4> line_ns = {0.35F, 0.6F, 1.1F, 8.0F};   ///< of a line of the table, by the level of memory that holds it
  std::array<float, 4> stream_ns = {0.3F, 0.5F, 0.8F, 2.2F};  ///< of a line of updates or of a gather's result
  std::array<float, 4> stream_scale = {8, 8, 6, 1.8F};        ///< how many times as many of these lines all cores read
  float transfer_ns = 30;                                     ///< of a line that another core has written
  float phase_ns = 270;                                       ///< of fork and join; at most kMostPhaseNs
  float wake_ns = 20000;                                      ///< of waking a worker that sleeps
  std::array<int64_t, 3> cache_bytes = {int64_t{32} << 10, int64_t{512} << 10, int64_t{8} << 20};  ///< that a table can have

  /// A call uses one thread per so many nanoseconds of work: a thread must save several times what its phases cost, because its caches
  /// may hold nothing of the call's data yet. Never 0.
  Nanoseconds thread_time() const {
    constexpr float kPhases = 12;
    return Nanoseconds(static_cast<int64_t>(std::max(1.0F, kPhases * phase_ns)));
  }
  /// The level of memory that holds so many bytes.
  size_t level_of(EstimatedBytes bytes) const {
    size_t level = 0;
    while (level < cache_bytes.size() && bytes > estimated(Bytes(cache_bytes[level]))) ++level;
    return level;
  }
  /// What is read or written in order: updates, or a gather's result; and how many times as fast all cores do it.
  struct Streams {
    double ns, scale;
  };
  struct Windows {
    double ns;
    Streams streams;  ///< what `ns` has of them
  };
  /// Applying so many positions with windows of so many bytes to a table. The calls before have usually touched much of what this one
  /// touches: what a few calls touch counts as cached, however large the table is.
  Windows windows(int64_t positions, EstimatedBytes window, Bytes table) const {
    constexpr double kCalls = 8;
    const double lines = window / kLine, touched = std::max(1.0, lines), all = static_cast<double>(positions);
    const size_t level = level_of(std::min(estimated(table), kLine * (kCalls * all * touched))),
                 stream_level = std::max(level, level_of(window * all));
    const Streams streams{all * lines * static_cast<double>(stream_ns[stream_level]),
                          static_cast<double>(stream_scale[stream_level])};
    return {all * (position_ns + lines * vector_ns + touched * static_cast<double>(line_ns[level])) + streams.ns, streams};
  }
  double of_windows(int64_t positions, EstimatedBytes window, Bytes table) const { return windows(positions, window, table).ns; }
  /// Filling or copying so many bytes.
  double of_bytes(Bytes bytes) const { return of_windows(1, estimated(bytes), bytes); }

 private:
  static constexpr EstimatedBytes kLine{64};
};

/// `caches`: bytes of the first, second and last level.
inline CallCosts call_costs(const MachineCosts& costs, const std::array<int64_t, 3>& caches) {
  CallCosts out;
  out.position_ns = costs.position_ns;
  out.key_ns = costs.key_ns;
  out.vector_ns = costs.vector_ns;
  out.transfer_ns = costs.transfer_ns;
  out.phase_ns = std::min(costs.fork_join_ns, kMostPhaseNs);
  out.wake_ns = costs.wake_ns;
  out.cache_bytes = caches;
  out.cache_bytes[2] = whole(static_cast<float>(caches[2]) * costs.last_level_share, int64_t{1} << 53);
  for (size_t level = 0; level < costs.memory.size(); ++level) {
    out.line_ns[level] = std::max(costs.memory[level].read_line_ns, costs.memory[level].update_line_ns);
    out.stream_ns[level] = costs.memory[level].stream_ns;
    out.stream_scale[level] = std::max(1.0F, costs.memory[level].stream_scale);
  }
  return out;
}

/// Index positions from which on strategies that look at destinations (owner, radix, runs) repay their barriers. With fewer, one thread
/// runs the call.
inline constexpr int64_t kOwnerPositions = 2048;
/// Bytes of the result: every piece of this size has one owner.
inline constexpr int64_t kOwnerPieceBytes = 4096;

}  // namespace strew::inline v0
