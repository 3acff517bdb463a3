// Folds of rows: positions of which the innermost loop combines all updates with one element, as a reduction over the last dim does. The elements of several
// rows are combined side by side in registers: each row's updates keep their order, and a combiner need not wait for the one before it. Where it is done:
// Walk::Way::row_folds. Tested by tests/differential and tests/golden/machine_code_test.cc.
#pragma once

#include "backends/llvm/address/frame.h"

namespace strew::inline v0 {

/// Emits the loop over the positions [begin, end) of the entry.
void emit_row_folds(Frame& frame);

}  // namespace strew::inline v0
