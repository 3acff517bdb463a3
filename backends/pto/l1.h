// Gathers into the L1 of the cube core instead of the vector core's buffer (ProgramOptions::through_l1).
// Tested by tests/unit/backends/pto/pto_l1_test.cc and tests/golden/pto_program_test.cc.
#pragma once

#include "backends/pto/walk.h"

namespace strew::inline v0::pto {

/// Ok if the output can express such gathers; only pto-cpp can.
Status check_l1(const ProgramOptions& options);

/// Sets walk.l1 if the op is a gather that L1 can take. Fails with the reason if not.
Status find_l1(const Frame& frame, RowWalk& walk);

/// Can tiles have that many rows?
bool fits_l1(const RowWalk& walk, int64_t rows);

/// Writes the program's body. False: the tile height does not divide the rows, which gathers of elements need.
Expected<bool> write_l1(Frame& frame, const RowWalk& walk);

}  // namespace strew::inline v0::pto
