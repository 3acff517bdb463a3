// prefetch: requests the first cache lines of a window some iterations before they are needed (schedule knob `prefetch`).
// Tested by tests/differential.
#pragma once

#include "backends/llvm/address/frame.h"

namespace strew::inline v0 {

/// Prefetches the first lines of the run of `tensor` that begins at `address`. `is_cut`: the entry does only iterations [w0, w1) of the first
/// window loop, so only lines of that part are prefetched. A prefetch never faults, whatever the address.
void prefetch_run(Frame& frame, int tensor, llvm::Value* address, bool write, bool is_cut = false);

}  // namespace strew::inline v0
