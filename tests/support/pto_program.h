// PtoProgram: a random mscatter or mgather program as text, and data for it. Written from what the instruction set says, tile by tile;
// it knows nothing of strew's ops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "strew/dtype.h"
#include "tests/support/rng.h"

namespace strew::test {

enum class PtoLoop : uint8_t {
  none,       ///< one tile
  one_core,   ///< 0 to n by rows
  in_turn,    ///< core * rows to n by cores * rows
  counted,    ///< tile numbers core, core + cores, ...
  pieces,     ///< a piece per core
  tile_each,  ///< core c has tile c, no loop
};

struct PtoProgram {
  bool scatters = true, by_row = true, partial_tiles = true, static_count = false;
  std::string atomic = "none", oob = "undefined", chip = "a5";
  std::string element = "f32", index = "i32";
  DType dtype = DType::f32;
  PtoLoop loop = PtoLoop::in_turn;
  int form = 0;                 ///< 0 pretty, 1 generic, 2 PTO-AS
  bool column_indices = false;  ///< row mode's indices as a column
  bool split_columns = false;   ///< row mode: tiles of half a row
  int64_t rows = 8, cols = 32;  ///< of a tile
  int64_t count = 8;            ///< rows in all
  int64_t table_rows = 16;

  static PtoProgram random(Rng& rng);
  std::string text() const;
  int64_t width() const { return split_columns ? 2 * cols : cols; }
  int64_t index_count() const { return by_row ? count : count * width(); }
  int64_t capacity() const { return by_row ? table_rows : table_rows * width(); }
};

/// What is behind the pointers: elements by their bits.
struct PtoData {
  std::vector<uint32_t> table, data;  ///< table_rows x width, count x width
  std::vector<int32_t> indices;
};
PtoData make_data(const PtoProgram& program, Rng& rng);
}  // namespace strew::test
