// The entries (strew/abi.h) of this backend, which are the same functions for all kernels: they interpret the program that strew_args
// carries. Tested by tests/differential.
#pragma once

#include "schedules/entries.h"
#include "strew/abi.h"

namespace strew::inline v0::portable {

strew_entry entry_of(EntryKind kind);

}  // namespace strew::inline v0::portable
