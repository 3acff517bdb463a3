// Walk: the first pass of the planner. The plan's loops are dealt out: which become the rows and columns of a tile, which stay loops of the
// program. Nothing is written yet; what comes after (spread.h, tiles.h, rows.h, windows.h) reads the walk and the plan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/pto/frame.h"

namespace strew::inline v0::pto {

constexpr int64_t kCacheLine = 64;  ///< bytes: what an a3 writes elements through
constexpr int64_t kFractalRows = 16, kFractalBytes = 32;

/// An op as rows: which loop a tile runs along, and which stay loops of the program.
struct RowWalk {
  int64_t width = 1;         ///< elements of a row
  std::vector<Loop> outer;   ///< positions around the axis, outermost first
  Loop axis;                 ///< the innermost positions: the rows of a tile
  std::vector<Loop> window;  ///< window loops outside of a row; a component's step by one of its coordinate
  bool elements = false;     ///< coalesce elem: rows of one word, side by side on both sides
  /// One component names the rows of a slab and nothing else moves inside of it: the chip's own modes do. Else index code adds up.
  bool slab = false;
  /// Columns of fractals, each `width` elements or 32 bytes wide, that the tables and the other side consist of; 0: they lie in rows.
  int64_t fractals = 0;
  /// Gathers through L1: block columns of a row there (elements: 1); 0: through the vector buffer.
  int64_t l1 = 0;
};

/// What the chip does with an index that is out of bounds, where it means the policy without index code.
std::optional<std::string> own_mode(const Plan& plan);

/// How the op walks rows, at most `most` elements each, or why it does not (then windows.h moves whole windows).
Expected<RowWalk> row_walk(const Frame& frame, int64_t most);

/// A window moved whole: which of its loops a tile runs along.
struct WindowWalk {
  std::vector<Loop> around;  ///< window loops outside of a tile
  Loop axis, run;            ///< rows and columns of a tile
  bool has_axis = false;     ///< false: tiles are one row
  int64_t cols = 1;          ///< elements of a tile's row
};
WindowWalk window_walk(const Frame& frame);

/// The other side of the table: the updates, or a gather's result.
int side(const Plan& plan, int pair);
/// Is an extra input another one for each element of a window?
bool in_tiles(const PlanTensor& tensor);

}  // namespace strew::inline v0::pto
