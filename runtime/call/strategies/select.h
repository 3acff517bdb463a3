// Selecting an owner's updates: the inner loop of strategy owner, which every thread runs over all positions.
#pragma once

#include <cstdint>

#include "runtime/call/strategies/owners.h"

namespace strew {

/// select_owned writes up to this many entries past the last it keeps.
inline constexpr int64_t kSelectSlack = 8;

/// Appends to `list`, from entry `queued` on, those of keys [0, count) that are the share's and not dropped, in order: position
/// `first` + i in the low half, the key in the high half. Positions stay below 2^32. Returns how many entries the list has then.
int64_t select_owned(const Owners::Share& share, const uint32_t* keys, int64_t count, uint32_t first, uint64_t* list,
                     int64_t queued);

/// The same without vector instructions; for tests, and where there are none.
int64_t select_owned_plain(const Owners::Share& share, const uint32_t* keys, int64_t count, uint32_t first, uint64_t* list,
                           int64_t queued);

}  // namespace strew
