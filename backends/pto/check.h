// Policy error: what a program's check of every index has in common, whichever way the op is walked.
#pragma once

#include "backends/pto/frame.h"

namespace strew::inline v0::pto {

/// A tile whose first element counts as 0: no fault seen.
Named start_check(Frame& frame);
/// Remembers a fault where `found`, an i32, is not 0.
void add_fault(Frame& frame, const Named& cell, const Named& found);
/// Writes the cell to `fault`, and makes frame.allowed 0 where there was one.
void finish_check(Frame& frame, const Named& cell);

}  // namespace strew::inline v0::pto
