// Straight lines: programs in PTO-AS, whose grammar has neither loops nor arithmetic.
#pragma once

#include "backends/pto/frame.h"

namespace strew::inline v0::pto {

/// Writes the program into frame.program: every tile of the op where they fit the buffer together, else one tile, whose first row the
/// caller gives. Fails with the reason where the op needs more than loads, one indexed instruction and stores.
Status write_straight(Frame& frame);

}  // namespace strew::inline v0::pto
