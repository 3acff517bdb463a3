// Rows: the mscatter and mgather programs. A window is cut into rows (or elements) of the table, the index tile names one each.
#pragma once

#include "backends/pto/walk.h"

namespace strew::inline v0::pto {

/// Writes the program's body.
Status write_rows(Frame& frame, const RowWalk& walk);

}  // namespace strew::inline v0::pto
