// Schedule: how a kernel is generated and run. A schedule changes only the speed, never the result (except that `checked` reports false
// hints). docs/ and schedules/README.md describe every knob. All functions here are thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "strew/abi.h"
#include "strew/export.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// How work is divided among threads (runtime/call/strategies). Numbers and names: STREW_STRATEGIES of strew/abi.h.
///   sequential  one thread
///   positions   disjoint chunks of index positions; legal for slice updates, gathers and unique destinations
///   window      chunks of the first window loop; every thread walks all positions
///   owner       every thread owns pieces of the result, reads all indices and applies, in order, the positions that go there
///   radix       a stable parallel radix partition of the positions by destination: every index is read once, for many threads
///   runs        chunks of sorted positions, cut where the destination changes
///   clip        every thread walks all positions and applies what falls into its range of the operand dim that moves the first window loop
///   private     a table per chunk of positions, combined at the end; for combiners that may be regrouped
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
  int vector_bytes = 32;     ///< vector register width, 16, 32 or 64; <= the target's
  int unroll = 4;            ///< vectors per iteration of a run loop, positions per iteration of an element loop: 1, 2, 4, 8
  int prefetch = 0;          ///< how many positions ahead the destination (gather: the source) is prefetched, 0..256
  bool nontemporal = false;  ///< streaming stores to the result; only for pure movement
  int tables = 8;            ///< strategy private: how many tables (exact combiners: at most, one per thread), 2..64
  /// The most scratch of a call: private and wide tables, the partition of strategy radix; 1..65536.
  int scratch_mib = 256;
  bool checked = false;  ///< every call checks first whether the op's hints are true; slow
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

STREW_API std::string print(const Schedule& schedule);  ///< strategy=positions,vector_bytes=32,…
/// Parses knobs; those that `text` does not name keep their value in `base`.
STREW_API Expected<Schedule> parse_schedule(std::string_view text, const Schedule& base);
STREW_API std::string_view name(Strategy strategy);

}  // namespace strew::inline v0
