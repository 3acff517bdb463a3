// Schedule: how a kernel is generated and run. A schedule changes only the speed, never the result (except that
// `checked` reports false hints). schedules/README.md describes every knob. All functions here are thread-safe. Tested
// by tests/unit/schedules/schedule_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "strew/abi.h"
#include "strew/export.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// How work is divided among threads (runtime/call/strategies). Numbers and names: STREW_STRATEGIES of strew/abi.h.
///   sequential  one thread applies all updates
///   positions   each thread takes chunks of index positions; legal for slice updates, gathers and unique destinations
///   window      each thread takes chunks of the first window loop and walks all positions
///   owner       each thread owns pieces of the result, reads all indices, and applies the updates to its pieces in order
///   radix       a stable parallel radix partition sorts the positions by destination, so every index is read once: for many
///               threads
///   runs        each thread takes chunks of sorted positions, cut where the destination changes
///   clip        each thread has a range of coordinates in the operand dim in which an index moves the first window loop; it
///               walks all positions and applies the part of each window that falls into its range
///   private     each chunk of positions is applied to a private table, and the tables are combined at the end; for combiners
///               whose updates may be regrouped
enum class Strategy : uint8_t {
#define STREW_STRATEGY_VALUE(strategy, text) strategy,
  STREW_STRATEGIES(STREW_STRATEGY_VALUE)
#undef STREW_STRATEGY_VALUE
};
inline constexpr Strategy kStrategies[] = {
#define STREW_STRATEGY_VALUE(strategy, text) Strategy::strategy,
    STREW_STRATEGIES(STREW_STRATEGY_VALUE)
#undef STREW_STRATEGY_VALUE
};

struct Schedule {
  Strategy strategy = Strategy::sequential;
  int vector_bytes = 32;  ///< vector register width, 16, 32 or 64; <= the target's
  int unroll = 4;         ///< vectors per iteration of a run, positions per iteration of elements and short rows: 1, 2, 4, 8
  int prefetch = 0;       ///< how many positions ahead destinations (of a gather: sources) are prefetched, 0..256; 0: none
  bool nontemporal =
      false;       ///< non-temporal stores to the result; legal if the op computes nothing. What calls begin with, if `adapts`
  int tables = 8;  ///< strategy private: number of tables, 2..64; if regrouping keeps every bit, at most one per thread
  /// The most scratch memory of a call, MiB, 1..65536: private tables, wide accumulators, the partition of strategy radix.
  int scratch_mib = 256;
  /// A call may take another strategy that the kernel can run, or other stores, where its shapes and threads make these faster, or calls
  /// before it found them to be (Options::learn); the results are the same.
  bool adapts = false;
  bool checked = false;  ///< every call first checks that the op's hints are true, and fails if not; slow
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// Knobs that replace those of the heuristic's choice; ranges are those of Schedule. A knob without a value is left to the
/// heuristic, except that a schedule with a strategy of the caller's does not adapt.
struct ScheduleOverrides {
  std::optional<Strategy> strategy;
  std::optional<int> vector_bytes, unroll, prefetch;
  std::optional<bool> nontemporal;
  std::optional<int> tables, scratch_mib;
  std::optional<bool> adapts, checked;
  friend bool operator==(const ScheduleOverrides&, const ScheduleOverrides&) = default;
};

/// A schedule as users write it: knobs, and possibly `threads=N`, which is a property of calls (KernelOptions::threads).
struct ScheduleText {
  ScheduleOverrides knobs;
  int threads = 0;  ///< 1..1024; 0: not given
};
/// Parses "unroll=8,prefetch=0,threads=2". Fails on an unknown knob and on a value out of range; the message names it.
STREW_API Expected<ScheduleText> parse_schedule_text(std::string_view text);

/// All knobs as text, "strategy=positions,vector_bytes=32,…"; parse_schedule() reads it.
STREW_API std::string print(const Schedule& schedule);
/// `base` with the knobs that `text` names. Fails on an unknown knob and on a value out of range; the message names it.
STREW_API Expected<Schedule> parse_schedule(std::string_view text, const Schedule& base);
/// The name in texts; "invalid" for a number that is no Strategy.
STREW_API std::string_view name(Strategy strategy);

}  // namespace strew::inline v0
