// Tiles: the last pass of the planner. A Grid is a view of a tensor in memory. TileWriter knows how the tiles of each tensor lie in the buffer and in memory.
// write_tile() writes what happens to one tile: its inputs are loaded and combined, and the result is stored. Programs
// of rows and of windows differ in how they read and write the table; each passes a TileAccess for that. Tested by
// tests/golden/pto_program_test.cc and tests/differential/npu.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "backends/pto/combine.h"
#include "backends/pto/walk.h"

namespace strew::inline v0::pto {

/// A loop or an index component: its current value, and its stride in each tensor.
struct Mover {
  Number variable;
  const std::vector<Term>& strides;
};

/// A view of a tensor as a matrix whose rows are `pitch` elements apart, the stride of one loop. A step along any other loop is then a number of
/// whole rows, or a number of columns.
class Grid {
 public:
  /// `pitch`: the tensor's stride from one row of a tile to the next; 0: the whole tensor is one row.
  Grid(Frame& frame, int tensor, const std::string& hint, const Term& pitch);
  /// The partition of `rows` x `cols` elements that starts at row `first_row` and column `col`, moved by `movers`.
  Named part(const std::string& hint, const Number& first_row, const std::vector<Mover>& movers, const Number& col,
             const Number& rows, const Number& cols) const;
  /// Of a packed tensor that is one line: the bits below the element at the place that the movers say, in its byte.
  Number shift(const std::vector<Mover>& movers) const;
  /// The partition of `count` elements that starts at element `first`, moved by `movers`. The pitch must be 0.
  Named line(const std::string& hint, const Number& first, const std::vector<Mover>& movers, const Number& count) const;

 private:
  Frame& frame_;
  int tensor_;
  Term pitch_;
  Named view_;
};

enum class TileForm : uint8_t {
  rows,      ///< rows of the tensor, one below the other
  elements,  ///< adjacent single elements of the tensor, as one row
  fractals,  ///< whole rows of a matrix in fractals: blocks of 16 rows of 32 bytes
};

/// The part of the tensors that a tile holds.
struct TileAt {
  Number first, count;        ///< rows [first, first + count), or single elements
  Number col, width;          ///< columns [col, col + width) of each row
  std::vector<Mover> movers;  ///< what moves this part in each tensor
};

class TileWriter {
 public:
  /// A tile holds at most `lines` rows of `cols` elements.
  TileWriter(Frame& frame, TileForm form, int64_t lines, int64_t cols) : frame_(frame), form_(form), lines_(lines), cols_(cols) {}
  /// Makes a view of `tensor` for its tiles, as rows of `pitch` elements (0: as one line).
  void add(int tensor, const Term& pitch);
  /// TileForm::fractals: makes a view of `tensor` as a matrix of that many rows.
  void add_matrix(int tensor, const Number& rows);

  /// Allocates a tile for the part `at` of a tensor; the partition of the tensor's memory for it.
  Named tile(const char* hint, int tensor, const TileAt& at) const;
  Named part(const std::string& hint, int tensor, const TileAt& at) const;
  /// The partition of rows [first, first + rows) of the table, for mscatter and mgather.
  Named table(const std::string& hint, int tensor, const Number& first, const Number& rows) const;
  /// Allocates a tile and loads the part `at` of a tensor into it.
  Named load(const char* hint, int tensor, const TileAt& at) const;
  /// CombineTiles with the shape of the tiles and without the tiles.
  CombineTiles shape(const TileAt& at) const;
  /// Grid::shift() of the part's first element.
  Number shift(int tensor, const TileAt& at) const { return grids_.at(tensor).shift(at.movers); }
  /// The number of words of a tile's row.
  int64_t words(int tensor) const { return cols_ * frame_.words(tensor).count; }
  TilePlan describe(const char* mode, CoreSplit split) const;

 private:
  Frame& frame_;
  TileForm form_;
  int64_t lines_, cols_;
  std::map<int, Grid> grids_;
  std::map<int, Named> matrices_;
};

/// What writes a program of rows or of windows: how the tiles lie, and how their parts are read and written.
class TileMover {
 public:
  virtual ~TileMover() = default;

 protected:
  TileMover(Frame& frame, Combine combine, TileWriter tiles)
      : frame_(frame), plan_(frame.plan), b_(frame.build), combine_(std::move(combine)), tiles_(std::move(tiles)) {}
  /// Reads the elements of the table for the tile at `part_`: a scatter's current values, or the elements that a gather reads.
  virtual Named current(int pair) = 0;
  /// Reads the updates of a pair.
  virtual Named update(int pair) = 0;
  /// Reads an extra input, as a tile or as a scalar for the whole tile.
  virtual Named extra(int tensor) = 0;
  /// Stores the result: into a scatter's table, or a gather's result.
  virtual void put(int pair, const Named& data) = 0;
  /// Is current() called before extra()?
  virtual bool current_first() const = 0;
  /// Writes the statements for the tile at `part_`: of a scatter from the updates into the table, of a gather from the table into
  /// the result.
  Status move_tile(int pair);
  /// The same for all pairs, where the scalar unit combines.
  void move_elements();

  Frame& frame_;
  const Plan& plan_;
  ProgramBuilder& b_;
  const Combine combine_;
  TileWriter tiles_;
  TileAt part_;
  std::vector<Named> row_values_;  ///< of the row that is processed: a tile for each of Plan::locals
  Status failed_;
};

}  // namespace strew::inline v0::pto
