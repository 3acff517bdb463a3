// write_rows(): programs that use mscatter and mgather. Windows are cut into rows (or single elements) of the table; a
// tile holds the rows of many positions, and its index tile has the row number of each. Tested by
// tests/golden/pto_program_test.cc and tests/differential/npu.
#pragma once

#include "backends/pto/walk.h"

namespace strew::inline v0::pto {

/// Writes the program's body. Fails with the reason if the chip or the output cannot express it.
Status write_rows(Frame& frame, const RowWalk& walk);

}  // namespace strew::inline v0::pto
