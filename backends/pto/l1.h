// L1: gathers that go through the cube core's L1 and not through a vector core's buffer.
#pragma once

#include "backends/pto/walk.h"

namespace strew::inline v0::pto {

/// Is there an output that can say it?
Status check_l1(const ProgramOptions& options);

/// Sets `walk.l1` where the op is a gather that L1 takes, or says why it is none.
Status find_l1(const Frame& frame, RowWalk& walk);

/// Can tiles be so tall?
bool fits_l1(const RowWalk& walk, int64_t rows);

/// Writes the program's body; false: tiles of this height do not divide what scratch memory is there for.
Expected<bool> write_l1(Frame& frame, const RowWalk& walk);

}  // namespace strew::inline v0::pto
