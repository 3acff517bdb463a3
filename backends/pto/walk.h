// Walk: the first pass of the planner. It decides which of the plan's loops become the rows and columns of a tile
// (tiling), and which stay loops of the program. It writes no statements; the later passes (spread.h, tiles.h) and the
// forms of programs, which are declared here, read the walk and the plan. Tested by tests/golden/pto_program_test.cc and
// tests/differential/npu.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/pto/frame.h"

namespace strew::inline v0::pto {

constexpr int64_t kCacheLine = 64;  ///< the bytes of a line of the cache through which a3 writes single elements
constexpr int64_t kFractalBytes = 32;

/// The loops of a program of rows. The rows of a tile belong to consecutive positions along the axis.
struct RowWalk {
  int64_t width = 1;         ///< elements of a row
  std::vector<Loop> outer;   ///< the position loops around the axis, outermost first
  Loop axis;                 ///< the innermost position loop: a tile has one row per iteration
  std::vector<Loop> window;  ///< the window loops outside a row; a loop of a component steps by one coordinate
  bool elements = false;     ///< coalesce elem: rows are one word, and adjacent in all tensors but the table
  /// A single component selects rows within a slab (the table's part of one iteration of `outer`), and no other loop
  /// moves within it. The modes of the chip's instructions can then implement the policy. Otherwise index code computes
  /// the rows.
  bool slab = false;
  /// If table and slices are matrices in fractals: the number of their block columns, each `width` elements (32 bytes)
  /// wide; 0: they are in rows.
  int64_t fractals = 0;
  /// Gathers through L1: the number of block columns of a row (1 for elements); 0: the program uses the vector buffer.
  int64_t l1 = 0;
};

/// The mode of mscatter or mgather that follows the rule, for indices that the chip reads right: as u32.
const char* chip_mode(const Plan& plan, PlaceRule rule);
/// The mode that implements the plan's policy without index code; nothing if there is none.
std::optional<std::string> own_mode(const Plan& plan);

/// The loops of a program of rows, with at most `most` elements per row. Fails with the reason if the op has no such
/// program; write_windows() then moves whole windows.
Expected<RowWalk> row_walk(const Frame& frame, int64_t most);

/// Splits every loop of a component whose coordinate advances only every `scale` iterations: into a loop over the coordinates and an inner
/// loop of `scale` iterations.
void split_scales(std::vector<Loop>& window);

/// The loops of a program of windows, within one position.
struct WindowWalk {
  std::vector<Loop> around;  ///< the window loops outside a tile
  Loop axis, run;            ///< the window loops along the rows and the columns of a tile
  bool has_axis = false;     ///< false: tiles have one row
  int64_t cols = 1;          ///< elements of a tile's row
};
WindowWalk window_walk(const Frame& frame);

/// The slices tensor of a pair: a scatter's updates, or a gather's result.
int slices_of(const Plan& plan, int pair);
/// Does the extra input have a value for each element of a window, so that it is loaded as tiles?
bool in_tiles(const PlanTensor& tensor);

// The forms that a program can have. Each is in the file of its name: rows.cc, windows.cc, l1.cc, straight.cc, placed.cc. All write the
// program's body into the frame, and fail with the reason if the chip or the output cannot express it.

/// Programs that use mscatter and mgather. Windows are cut into rows (or single elements) of the table; a tile holds the
/// rows of many positions, and its index tile has the row number of each.
Status write_rows(Frame& frame, const RowWalk& walk);

/// Programs that move whole windows by plain copies of tiles, one position after another. They take every op that has no
/// program of rows: a single position, any stride, any width, any fill value.
Status write_windows(Frame& frame);
/// Writes the check of all indices, position by position, if the program has one (Frame::checks_first).
void write_window_check(Frame& frame);

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

/// PTO-AS: single elements, whose places tile instructions compute from indices that mgather reads. `moves_nothing`: the op does, whatever the
/// indices are.
Status write_placed(Frame& frame, bool moves_nothing);

}  // namespace strew::inline v0::pto
