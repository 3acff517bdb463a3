// Stores that bypass the caches (schedule knob `nontemporal`): where they are legal, where they can pay, and whether the kernel leaves the
// choice to its calls, because the extents that decide are open or because only the call finds what it writes in a cache or not. Such a kernel
// has the entry stream beside the entry range. Tested by tests/unit/schedules/stores_test.cc.
#pragma once

#include <cstdint>

#include "compiler/plan/plan.h"
#include "schedules/schedule.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// Tensors of up to this many bytes are never written past the caches: caches of less than a few times that are not provided for. The target's
/// own cache size is not used, because generated code must depend on nothing but the target's text.
inline constexpr int64_t kNeverStreamed = int64_t{256} << 10;

/// Ok if bits are moved and nothing is computed.
Status legal_nontemporal(const Plan& plan);
/// Are the runs whole cache lines? A store that bypasses the caches must fill its line, or memory is read first.
bool writes_whole_lines(const Plan& plan);
/// Can stores that bypass the caches pay in some call of a kernel that applies windows with strategy `strategy`?
bool may_stream(const Plan& plan, Strategy strategy);
/// Do calls choose between the entries range and stream?
inline bool chooses_stores(const Plan& plan, const Schedule& schedule) {
  return schedule.adapts && may_stream(plan, schedule.strategy);
}

}  // namespace strew::inline v0
