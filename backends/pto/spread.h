// Spread: the second pass of the planner. Which iterations the cores share, and the loops that share them.
#pragma once

#include <functional>
#include <vector>

#include "backends/pto/combine.h"
#include "backends/pto/walk.h"

namespace strew::inline v0::pto {

enum class Spread : uint8_t {
  single,  ///< one core does it all, in order
  tiles,   ///< core b takes every tile b, b + cores, ..
  outer,   ///< and every iteration b, b + cores, .. of the outermost position loop
  slab,    ///< the same where each iteration owns a slab of the destinations: order is kept inside of it
  ranges,  ///< each core owns a range of the table's rows and sees every update
};
CoreSplit split_of(Spread spread);

/// A gather, and a scatter whose updates cannot meet or may in any order, is spread by tiles. Where order counts, or the result is made from an
/// operand first, destinations are owned: by slab where there are enough, else by ranges of rows.
Spread spread_rows(Frame& frame, const RowWalk& walk, const Combine& combine);
/// A scatter by slab, a gather by position, a single window by its tiles; everything else is one core's.
Spread spread_windows(Frame& frame, const WindowWalk& walk);

/// Does the program make the results before the updates?
bool makes_results(const Frame& frame);

/// Writes `loops` from 0 to their extents, outermost first. `at`: their variables, while the body is written.
void write_nest(Frame& frame, const std::vector<Loop>& loops, const char* hint, std::vector<Number>& at,
                const std::function<void()>& body);

/// The position loops, the outermost one spread over the cores where `spread` says so; a slab's destinations are made first. `outer` and `inner`:
/// hints of the loops' variables.
struct PositionLoops {
  const std::vector<Loop>& loops;
  Spread spread;
  const char *outer, *inner;
};
Status write_positions(Frame& frame, const PositionLoops& positions, std::vector<Number>& at,
                       const std::function<Status()>& body);

}  // namespace strew::inline v0::pto
