// The passes over a lowered kernel that decide how its entries walk positions (Walk, kernel.h): in which order and with which prefetches, and how
// many positions at a time. They change no result. Each decision has its measurements beside it in walk.cc.
// Tested by tests/golden/lowered_test.cc and tests/golden/machine_code_test.cc.
#pragma once

#include <span>
#include <string_view>

#include "backends/lower/kernel.h"

namespace strew::inline v0::lowered {

struct Pass {
  std::string_view name;
  void (*run)(Kernel& kernel, const Target& target);
};
/// In the order in which they run.
std::span<const Pass> passes();
/// Runs all passes.
STREW_API void run_passes(Kernel& kernel, const Target& target);

/// The positions whose places Way::index_lanes computes at once.
inline constexpr int kIndexLanes = 8;
/// The positions of Way::equal_lanes whose indices are compared.
inline constexpr int kEqualLanes = 16;
/// The positions of an iteration of Way::packed_rows, whatever the length of a row.
inline constexpr int kPackedRows = 8;

}  // namespace strew::inline v0::lowered
