// Tiles: the last pass of the planner. How a tile of each tensor lies, in the buffer and in memory, and what happens to one tile: its inputs
// are loaded, folded and put where they belong. Rows and windows differ in where the table's part comes from and goes to, and say so
// by a TileAccess.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backends/pto/combine.h"
#include "backends/pto/grid.h"
#include "backends/pto/walk.h"

namespace strew::inline v0::pto {

enum class TileForm : uint8_t {
  rows,      ///< rows of the tensor, one after another
  elements,  ///< single elements that lie side by side in the tensor: one row of them
  fractals,  ///< whole rows of a matrix in blocks of 16 rows of 32 bytes
};

/// Something that moves a tile: a loop or an index component, and how far it moves each tensor.
struct Mover {
  Number variable;
  const std::vector<Term>& strides;
};

/// Where a tile is in the tensors.
struct TileAt {
  Number first, count;  ///< rows, or elements, along the tile
  Number col, width;    ///< elements of a row
  std::vector<Mover> movers;
};

class TileWriter {
 public:
  /// `lines` rows of `cols` elements: the most a tile holds.
  TileWriter(Frame& frame, TileForm form, int64_t lines, int64_t cols) : frame_(frame), form_(form), lines_(lines), cols_(cols) {}
  /// Tiles of `tensor` are looked for in rows `pitch` apart (0: in one line).
  void add(int tensor, const Term& pitch);
  /// Fractals: in a matrix of so many rows.
  void add_matrix(int tensor, const Number& rows);

  Named tile(const char* hint, int tensor, const TileAt& at) const;
  Named part(const std::string& hint, int tensor, const TileAt& at) const;
  /// Rows [first, first + rows) of the table, for instructions that index it.
  Named table(const std::string& hint, int tensor, const Number& first, const Number& rows) const;
  /// A tile of what is at `at` in memory.
  Named load(const char* hint, int tensor, const TileAt& at) const;
  /// Rows and columns of tiles that are computed with.
  CombineTiles shape(const TileAt& at) const;
  /// Words of a row of the table's tile, and how the side-car calls the form.
  int64_t words(int tensor) const { return cols_ * frame_.words(tensor).count; }
  TilePlan describe(const char* mode, CoreSplit split) const;

 private:
  const Grid& grid(int tensor) const;
  static std::vector<Step> steps(int tensor, const TileAt& at);

  Frame& frame_;
  TileForm form_;
  int64_t lines_, cols_;
  std::vector<std::pair<int, Grid>> grids_;
  std::vector<std::pair<int, Named>> matrices_;
};

/// What differs between the ways to walk an op.
class TileAccess {
 public:
  virtual ~TileAccess() = default;
  /// The table's elements of the tile; a gather's: what is gathered.
  virtual Named current(int pair) = 0;
  /// An extra input as a tile or a number.
  virtual Named extra(int tensor) = 0;
  /// Stores what was computed: a scatter's into the table, a gather's into the result.
  virtual void put(int pair, const Named& data) = 0;
  /// Are the table's elements read before the extra inputs?
  virtual bool current_first() const = 0;
};

/// One tile of updates into the table, or of the table into the result.
Status write_tile(Frame& frame, const Combine& combine, const TileWriter& layout, const TileAt& at, int pair, TileAccess& access);

}  // namespace strew::inline v0::pto
