// Selects an owner's updates: the inner loop of strategy owner, which every thread runs over all positions.
#pragma once

#include <cstdint>

#include "runtime/call/strategies/owners.h"

namespace strew::inline v0 {

/// select_owned may write this many entries after the last one it keeps.
inline constexpr int64_t kSelectSlack = 8;

/// Appends to `list`, from entry `queued` on, an entry for each of keys [0, count) that belongs to the share and is not dropped, in order:
/// the position `first` + i in the low half, the key in the high half. Positions must stay below 2^32. Returns the new number of entries.
int64_t select_owned(const Owners::Share& share, const uint32_t* keys, int64_t count, uint32_t first, uint64_t* list,
                     int64_t queued);

/// The same without vector instructions, for tests and for machines that lack them.
int64_t select_owned_plain(const Owners::Share& share, const uint32_t* keys, int64_t count, uint32_t first, uint64_t* list,
                           int64_t queued);

}  // namespace strew::inline v0
