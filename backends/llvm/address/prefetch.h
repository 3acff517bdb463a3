// Look-ahead: touching the first lines of a row some iterations before it is needed (schedule knob `prefetch`).
#pragma once

#include "backends/llvm/address/frame.h"

namespace strew {

/// Prefetches the run of `tensor` at `address`: its constant length, at most a few lines, and of those, where the entry does a part of each
/// window (`is_cut`), the part's. Never faults, whatever the address.
void prefetch_run(Frame& frame, int tensor, llvm::Value* address, bool write, bool is_cut = false);

}  // namespace strew
