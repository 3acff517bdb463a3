// Sink slot: if the index of a scatter's element is out of bounds and the policy drops the element, its store goes to a spare element (the
// sink) instead of being skipped by a branch, because a branch on random indices is mispredicted. A gather reads a copy of the fill value in
// the same way. Limit: single elements of whole bytes. Tested by tests/differential and tests/golden/machine_code_test.cc.
#pragma once

#include "backends/llvm/address/frame.h"

namespace strew::inline v0 {

/// Does the plan use sinks? It does if windows are single elements of whole bytes, and the policy is skip (scatters) or fill (gathers).
bool uses_sink_slot(const Frame& frame);

/// Replaces the pointers of the indexed tensors by those of their sinks, unless the i1 `inside` holds.
void redirect_to_sink(Frame& frame, llvm::Value* inside, Pointers& p);

}  // namespace strew::inline v0
