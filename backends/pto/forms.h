// The forms that a program can have. Each is in the file of its name: rows.cc, windows.cc, l1.cc, straight.cc. All write the
// program's body into the frame, and fail with the reason if the chip or the output cannot express it. Tested by
// tests/golden/pto_program_test.cc and tests/differential/npu.
#pragma once

#include "backends/pto/walk.h"

namespace strew::inline v0::pto {

/// Programs that use mscatter and mgather. Windows are cut into rows (or single elements) of the table; a tile holds the
/// rows of many positions, and its index tile has the row number of each.
Status write_rows(Frame& frame, const RowWalk& walk);

/// Programs that move whole windows by plain copies of tiles, one position after another. They take every op that has no
/// program of rows: a single position, any stride, any width, any fill value.
Status write_windows(Frame& frame);

/// Gathers into the L1 of the cube core instead of the vector core's buffer (ProgramOptions::through_l1). False: the tile
/// height does not divide the rows, which gathers of elements need.
Expected<bool> write_l1(Frame& frame, const RowWalk& walk);
/// Ok if the output can express such gathers; only pto-cpp can.
Status check_l1(const ProgramOptions& options);
/// Sets walk.l1 if the op is a gather that L1 can take. Fails with the reason if not.
Status find_l1(const Frame& frame, RowWalk& walk);
/// Can tiles have that many rows?
bool fits_l1(const RowWalk& walk, int64_t rows);

/// PTO-AS: a straight line of whole tiles. If all tiles of the op fit the buffer together, the program has them all.
/// Otherwise it has one tile, whose first row is an argument, and the caller repeats it. False: the op needs more than
/// loads, one indexed instruction and stores.
bool write_straight(Frame& frame);

}  // namespace strew::inline v0::pto
