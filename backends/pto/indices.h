// IndexCode: writes the instructions that make index tiles of one source of indices for programs of rows (rows.cc): load the indices,
// narrow 64-bit ones to i32, normalise negative ones, check bounds, and sum the components to a row number. Tested by
// tests/golden/pto_program_test.cc and tests/differential/npu.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "backends/pto/index_math.h"
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
  /// Of source number `source`: 0 are the op's own indices, the others those of look-ups.
  IndexCode(Frame& frame, const RowWalk& walk, size_t source = 0);

  /// The table whose rows the indices name.
  int table() const { return table_; }
  const IndexSource& source() const { return source_; }
  /// Component `k` of the indices at `place`, normalised, as a tile of i32. A value that does not fit becomes an end of
  /// the range of i32.
  Named component(size_t k, const TilePlace& place);
  /// All indices were checked: under policy error, later index tiles are known to be in bounds.
  void set_checked() { checked_ = source_.checks_first; }
  /// Makes the elements of `bad` 1 at positions of which a component is out of bounds, or negative where only that is judged. If `bad` has no name yet, it becomes a tile with 1 there
  /// and 0 elsewhere.
  void add_faults(const TilePlace& place, Named& bad);
  /// The row numbers of the table, minus `base`. Positions that the policy drops get a row outside [0, total), and so do those at which the
  /// tile `bad` is 1, if it has a name; its elements are lost.
  Named rows(const TilePlace& place, const Number& base, const Number& total, Named bad = {});
  /// Of a look-up: the row numbers of its table. A position that it drops becomes 1 in `dropped`, as in add_faults(), and gets any row of the
  /// table. If it fills, positions that are out of bounds get a row outside [0, total).
  Named lookup_rows(const TilePlace& place, const Number& total, Named& dropped);
  /// RowWalk::slab: the rows in the slab, minus `base`, with as much of the policy as the chip does not do itself.
  /// `owned`: the core applies only the updates of its own range of rows; the mode `skip` drops the others.
  Named slab_rows(const TilePlace& place, const Number& base, bool owned);

  /// The attribute scatterOob or gatherOob: what the instruction does with an index that is out of bounds.
  const char* mode(bool owned) const;
  /// Can index tiles be columns (ProgramOptions::index_column)? Only if the program does not compute with them: the
  /// chip computes on rows only.
  Status check_column(bool owned) const;

 private:
  /// An index tensor as one line, and all its words if words() gathers them.
  struct Lines {
    Grid grid;
    Named whole;
  };
  Named sum_rows(const TilePlace& place, const Number& base, Named& bad);
  bool is_lookup() const { return &source_ != &plan_.primary(); }
  const Component& first() const { return source_.components.front(); }
  /// Where a component's words are in memory: at + offset, at + offset + stride, ….
  struct WordPlace {
    int tensor;
    Number at, offset, stride;
  };
  Named widened(const WordPlace& from);
  Named words(const char* hint, const WordPlace& from);
  void saturate(const Component& component, const Named& tile);

  Frame& frame_;
  const Plan& plan_;
  ProgramBuilder& b_;
  const RowWalk& walk_;
  const size_t number_;
  const IndexSource& source_;
  const int table_;
  std::map<int, Lines> lines_;  ///< by index tensor
  IndexMath math_;              ///< on as many numbers as the tile has positions whose indices component() read last
  Named column_;                ///< ProgramOptions::index_column: the indices as one column
  Named where_;                 ///< words(): the tile of the places from which it gathered last
  int where_tensor_ = -1;
  Number where_offset_;  ///< the index tensor for which `where_` is, and the offset
  bool checked_ = false;
};

}  // namespace strew::inline v0::pto
