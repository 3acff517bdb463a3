// Simulates tload, tstore, and reads and writes of single elements of tiles and of memory.
// Tested by tests/unit/backends/pto/simulate/pto_simulate_test.cc and tests/error/pto_simulate_error_test.cc.
#include "backends/pto/simulate/core.h"

namespace strew::inline v0::pto {

int64_t View::rows() const {
  if (fractal) return shape[2] * shape[3];
  int64_t out = 1;
  for (size_t d = 0; d + 1 < shape.size(); ++d) out *= shape[d];
  return out;
}

int64_t View::cols() const { return fractal ? shape[0] * shape[1] * shape[4] : shape.back(); }

int64_t View::element(int64_t row, int64_t col) const {
  if (fractal) {
    const int64_t across = col / shape[4], down = row / shape[3];
    return offset + across / shape[1] * strides[0] + across % shape[1] * strides[1] + down * strides[2] +
           row % shape[3] * strides[3] + col % shape[4] * strides[4];
  }
  int64_t out = offset + col * strides.back();
  for (size_t d = shape.size() - 1; d-- > 0;) {
    out += row % shape[d] * strides[d];
    row /= shape[d];
  }
  return out;
}

/// Fails unless the view has the shape of the tile's valid part, as the chips require.
Status Core::check_shape(const Statement& s, const View& view, const Tile& tile) const {
  if (view.fractal != tile.fractal || (view.fractal && view.shape.size() != 5))
    return fail(s, "memory and tile are not both in fractals, expected five dims and layout nz with such a tile");
  const int64_t rows = view.rows(), cols = view.cols();
  if (rows == tile.valid_rows && cols == tile.valid_cols) return {};
  return fail(s, "memory has " + std::to_string(rows) + " rows of " + std::to_string(cols) + " and the tile's valid part " +
                     std::to_string(tile.valid_rows) + " of " + std::to_string(tile.valid_cols) + ", expected as many");
}

Status Core::load(const Statement& s, const View& from, const std::string& name) {
  const Tile& tile = value(name).tile;
  STREW_TRY(check_shape(s, from, tile));
  const Event now = issue(s, 0);
  STREW_TRY(touch(now, name, Access::write));
  for (const auto& [r, c] : tile.elements()) {
    const int64_t element = from.element(r, c);
    STREW_TRY(touch_memory(now, from.memory, element, Access::read));
    buffer_of(tile).write(tile, r, c, load_code(from.memory, element));
  }
  count(now, tile, &SimulationReport::loaded_bytes);
  return {};
}

Status Core::store(const Statement& s, const std::string& name, const View& to) {
  const std::string_view atomic = s.attribute("atomicType");
  if (!atomic.empty() && atomic != "atomic_none")
    return fail(s, "atomicType is " + std::string(atomic) + ", expected none: only mscatter combines");
  const Tile& tile = value(name).tile;
  STREW_TRY(check_shape(s, to, tile));
  const Event now = issue(s, 0);
  STREW_TRY(touch(now, name, Access::read));
  for (const auto& [r, c] : tile.elements()) {
    STREW_ASSIGN(const uint64_t code, buffer_of(tile).read(s, tile, r, c, name));
    STREW_TRY(touch_memory(now, to.memory, to.element(r, c), Access::write));
    store_code(to.memory, to.element(r, c), code);
  }
  count(now, tile, &SimulationReport::stored_bytes);
  return {};
}

/// PTO-AS: the part of `%memref[%row, %col]` that has the shape of the tile's valid part.
View Core::address(const Statement& s, size_t group, const Tile& tile) const {
  View out = value(s.operands[group][0]).view;
  for (size_t d = 0; d < 2; ++d) out.offset += number(s.operands[group + 1][d]) * out.strides[d];
  out.shape = {tile.valid_rows, tile.valid_cols};
  return out;
}

Status Core::tile_element(const Statement& s) {
  const std::string& name = s.operands[0][0];
  const Tile& tile = value(name).tile;
  const int64_t index = number(s.operands[1][0]);
  if (index < 0 || index >= tile.rows * tile.cols)
    return fail(s, "the index %" + s.operands[1][0] + " is " + std::to_string(index) + ", expected 0 to " +
                       std::to_string(tile.rows * tile.cols - 1));
  const int64_t row = tile.column_major ? index % tile.rows : index / tile.cols;
  const int64_t col = tile.column_major ? index / tile.rows : index % tile.cols;
  Tile one = tile;  // a tile of this element alone, for the record of accesses
  one.address = tile.byte_of(row, col);
  one.rows = one.cols = one.valid_rows = one.valid_cols = 1;
  const bool gets = s.opcode == Opcode::tgetval;
  STREW_TRY(buffer_.touch(check_sync_ ? &pipes_ : nullptr, issue(s, 0), one, name, gets ? Access::read : Access::write));
  if (gets) {
    STREW_ASSIGN(const uint64_t code, buffer_.read(s, tile, row, col, name));
    give(s, code);
  } else {
    buffer_.write(tile, row, col, value(s.operands[2][0]).code);
  }
  return {};
}

Status Core::memory_element(const Statement& s) {
  const int memory = value(s.operands[0][0]).view.memory;
  const int64_t element = number(s.operands[1][0]);
  const bool gets = s.opcode == Opcode::load_scalar;
  STREW_TRY(touch_memory(issue(s, 0), memory, element, gets ? Access::read : Access::write));
  if (gets) {
    give(s, load_code(memory, element));
  } else {
    store_code(memory, element, value(s.operands[2][0]).code);
  }
  return {};
}

}  // namespace strew::inline v0::pto
