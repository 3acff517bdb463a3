// IndexCode: writes the instructions that make index tiles for programs of rows (rows.cc): load the indices, narrow
// 64-bit ones to i32, normalise negative ones, check bounds, and sum the components to a row number. Tested by
// tests/golden/pto_program_test.cc and tests/differential/npu.
#pragma once

#include <vector>

#include "backends/pto/tiles.h"

namespace strew::inline v0::pto {

/// Where a tile is in the iteration space (walk.h, RowWalk).
struct TilePlace {
  Number first, count;         ///< its positions along the axis
  std::vector<Number> outer;   ///< the variables of the position loops around the axis
  std::vector<Number> window;  ///< the variables of the window loops; empty outside of them
};

class IndexCode {
 public:
  IndexCode(Frame& frame, const RowWalk& walk);

  /// Component `k` of the indices at `place`, normalised, as a tile of i32. A value that does not fit becomes an end of
  /// the range of i32.
  Named component(size_t k, const TilePlace& place);
  /// All indices were checked: later index tiles are known to be in bounds.
  void set_checked() { checked_ = true; }
  /// A tile with 1 for every position of which a component is out of bounds, else 0.
  Named faults(const TilePlace& place);
  /// The row numbers of the table, minus `base`. Positions that the policy drops get a row outside [0, total).
  Named rows(const TilePlace& place, const Number& base, const Number& total);
  /// RowWalk::slab: the rows in the slab, minus `base`, with as much of the policy as the chip does not do itself.
  /// `owned`: the core applies only the updates of its own range of rows; the mode `skip` drops the others.
  Named slab_rows(const TilePlace& place, const Number& base, bool owned);

  /// The attribute scatterOob or gatherOob: what the instruction does with an index that is out of bounds.
  const char* mode(bool owned) const;
  /// Can index tiles be columns (ProgramOptions::index_column)? Only if the program does not compute with them: the
  /// chip computes on rows only.
  Status check_column(bool owned) const;

 private:
  Named line(const std::string& hint);  ///< allocates a tile with an i32 for each position
  void scale(const Named& tile, Opcode opcode, const Number& by);
  /// Where a component's words are in memory: at + offset, at + offset + stride, ….
  struct WordPlace {
    Number at, offset, stride;
  };
  Named widened(const WordPlace& from);
  Named words(const char* hint, const WordPlace& from);
  Named sign(const Named& tile, const char* hint);
  /// Clamps `tile` to [0, limit], and makes the elements of `bad` 1 that were outside.
  void bound(const Named& tile, const Number& limit, Named& bad);
  void saturate(const Named& tile);

  Frame& frame_;
  const Plan& plan_;
  ProgramBuilder& b_;
  const RowWalk& walk_;
  Grid grid_;
  Number count_;         ///< how many positions the tile has whose indices component() read last
  Named column_;         ///< ProgramOptions::index_column: the indices as one column
  Named whole_;          ///< all words of the indices as one line, if words() gathers them
  Named where_;          ///< words(): the tile of the places from which it gathered last
  Number where_offset_;  ///< the offset at which `where_` is
  bool checked_ = false;
};

}  // namespace strew::inline v0::pto
