// Windows: programs that move whole windows by plain tile copies, one index position after another.
#pragma once

#include "backends/pto/frame.h"

namespace strew::inline v0::pto {

/// Writes the program's body: starts are read as scalars, windows move as tiles of rows. Where rows.h can walk an op, its tiles hold
/// many positions; this one takes everything else: one position, any step, any width, any fill value.
Status write_windows(Frame& frame);

}  // namespace strew::inline v0::pto
