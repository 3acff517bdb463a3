// Policy error: the parts of the check of all indices that programs of rows and of windows (forms.h) share.
// The check keeps a tile of i32, the cell: its element 0 becomes 1 if an index is out of bounds. Tested by
// tests/golden/pto_program_test.cc and tests/differential/npu.
#pragma once

#include <functional>

#include "backends/pto/frame.h"

namespace strew::inline v0::pto {

/// Writes the check: `all` calls add_fault() for every index, before anything else is written. Then the cell is stored to the
/// argument `fault`, and frame.allowed is set: 1 if no index was out of bounds, else 0.
void write_check(Frame& frame, const std::function<void(const Named& cell)>& all);
/// Makes the cell the maximum of itself and `found`, an i32 that is 1 for an index out of bounds and 0 otherwise.
void add_fault(Frame& frame, const Named& cell, const Named& found);

}  // namespace strew::inline v0::pto
