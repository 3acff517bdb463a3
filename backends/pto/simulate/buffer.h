// Buffer: the vector buffer of a core, or the L1 of a cube core. It holds the bytes of tiles, and for each block which
// tile wrote it last and which instructions accessed it, so that wrong reads and missing flags are found. Tested by
// tests/unit/backends/pto/simulate/pto_simulate_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "backends/pto/simulate/sync.h"
#include "compiler/pto/ast.h"
#include "strew/status.h"

namespace strew::inline v0::pto {

/// A tile at its address in the buffer.
struct Tile {
  int64_t address = 0, rows = 0, cols = 0, valid_rows = 0, valid_cols = 0;
  DType dtype = DType::f32;
  bool column_major = false;
  bool fractal = false;  ///< it is in blocks of 16 rows of 32 bytes, block columns one after another
  bool l1 = false;       ///< it is in the cube core's L1
  int identity = 0;      ///< tiles with the same address, shape, layout and element type have the same identity

  int64_t width() const { return bits(dtype) / 8; }
  int64_t bytes() const { return rows * cols * width(); }
  int64_t byte_of(int64_t row, int64_t col) const {
    const int64_t each = 32 / width();
    if (fractal) return address + (col / each * rows * each + row * each + col % each) * width();
    return address + (column_major ? col * rows + row : row * cols + col) * width();
  }
};

class Buffer {
 public:
  explicit Buffer(int64_t bytes);

  /// Makes the tile of an allocation statement. No address: the tile gets an address that no other statement's tile
  /// has, and its contents are undefined after each execution of the statement.
  Expected<Tile> place(const Statement& s, std::optional<int64_t> address, int64_t valid_rows, int64_t valid_cols);

  /// Records that the instruction `now` reads or writes the valid part of a tile, and checks with `pipes` that it comes
  /// after the accesses that it depends on. `pipes` null: does not check.
  Status touch(const Pipes* pipes, const Event& now, const Tile& tile, const std::string& name, Access access);

  /// Reads or writes one element. It is an error to read an element that nothing wrote, or that a write of another tile
  /// replaced.
  Status read(const Statement& s, const Tile& tile, int64_t row, int64_t col, const std::string& name, uint64_t& code) const;
  void write(const Tile& tile, int64_t row, int64_t col, uint64_t code);

  int64_t used() const { return used_; }

 private:
  struct Block {
    History history;
    int owner = -1;    ///< the identity of the tile that wrote the block last; -1: none
    std::string name;  ///< the owner's name
  };
  std::vector<std::byte> data_;
  std::vector<bool> written_;
  std::vector<Block> blocks_;
  std::map<const Statement*, int64_t> places_;
  std::map<std::tuple<int64_t, int64_t, int64_t, DType, int>, int> identities_;
  int64_t next_ = 0, used_ = 0;
};

}  // namespace strew::inline v0::pto
