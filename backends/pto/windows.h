// write_windows(): programs that move whole windows by plain copies of tiles, one position after another. They take
// every op that has no program of rows (rows.h): a single position, any stride, any width, any fill value. Tested by
// tests/golden/pto_program_test.cc and tests/differential/npu.
#pragma once

#include "backends/pto/frame.h"

namespace strew::inline v0::pto {

/// Writes the program's body. Fails with the reason if the chip or the output cannot express it.
Status write_windows(Frame& frame);

}  // namespace strew::inline v0::pto
