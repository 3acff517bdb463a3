// write_straight(): programs in PTO-AS, whose grammar has neither loops nor arithmetic on numbers, as a straight line
// of whole tiles. Tested by tests/golden/pto_program_test.cc and tests/error/pto_program_error_test.cc.
#pragma once

#include "backends/pto/frame.h"

namespace strew::inline v0::pto {

/// Writes the program into frame.program. If all tiles of the op fit the buffer together, the program has them all.
/// Otherwise it has one tile, whose first row is an argument, and the caller repeats it. Fails with the reason if the
/// op needs more than loads, one indexed instruction and stores.
Status write_straight(Frame& frame);

}  // namespace strew::inline v0::pto
