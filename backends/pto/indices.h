// IndexCode: the index tiles of a program in rows: loaded, narrowed, normalised, checked and added up on the device.
#pragma once

#include <vector>

#include "backends/pto/grid.h"
#include "backends/pto/walk.h"

namespace strew::inline v0::pto {

/// A tile's place among the positions.
struct TilePlace {
  Number first, count;         ///< along the axis
  std::vector<Number> outer;   ///< variables of the loops around
  std::vector<Number> window;  ///< and of the window loops; empty outside of them
  Number base;                 ///< rows of the table before the part that is written, inside of a slab
};

class IndexCode {
 public:
  IndexCode(Frame& frame, const RowWalk& walk);

  /// The component's tile at `place`: i32, negative where the value was, at the ends of i32 where it did not fit.
  Named component(size_t k, const TilePlace& place);
  /// From here on every index is known to be in bounds.
  void set_checked() { checked_ = true; }
  /// A tile of 1 where a component is out of bounds at `place`, else 0.
  Named faults(const TilePlace& place);
  /// Row numbers of the table, counted from `base`; what the policy drops is negative or not below `rows`.
  Named rows(const TilePlace& place, const Number& base, const Number& total);
  /// Slabs: the component by the policy, counted from `base`. `owned`: rows outside of [base, base + rows of the part) are dropped.
  Named slab_rows(const TilePlace& place, const Number& base, bool owned);

  /// What the instruction is told to do with an index that is out of bounds.
  const char* mode(bool owned) const;
  /// Can index tiles be columns? The chip computes with rows of them only.
  Status check_column(bool owned) const;

 private:
  Named scratch(const char* hint, const Named& like);
  void scale(const Named& tile, Opcode opcode, const Number& by);
  /// Where a component's words lie: `at` + `offset`, at + offset + stride, ..
  struct WordPlace {
    Number at, offset, stride;
  };
  Named widened(const TilePlace& place, const WordPlace& from);
  Named words(const char* hint, const TilePlace& place, const WordPlace& from);
  void normalise(size_t k, const Named& tile);
  Named sign(const Named& tile, const char* hint);
  /// Leaves `tile` inside [0, limit] and marks in `bad` what was not.
  void bound(const Named& tile, const Number& limit, Named& bad);
  void saturate(const Named& tile);
  bool drops() const;

  Frame& frame_;
  const RowWalk& walk_;
  Grid grid_;
  Number count_;
  Named column_;  ///< the indices as a column, where they are loaded as one
  Named whole_;   ///< all words, where they are gathered
  Named where_;   ///< the tile of places of the positions at hand, and what offset it is at
  Number where_offset_;
  bool checked_ = false;
};

}  // namespace strew::inline v0::pto
