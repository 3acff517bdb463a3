// Simulates mgather into the cube core's L1, and the move of the tile to the vector core. The scalar unit reads the
// indices from memory. MTE2 loads rows; elements go by way of scratch memory, which the scalar unit fills in the order
// of the tile. On both chips the number of rows of row mode is the product of all dims before the last, and the
// distance of rows is the view's stride. With mode `zero`, elements out of bounds are 0.
//
// On a5 the cube core's MTE1 copies a tile to the vector core beside it, whose MTE3 stores it. The two synchronise by
// signals between cores, which are simulated as flags. Tested by tests/unit/backends/pto/pto_l1_test.cc.
#include "backends/pto/simulate/core.h"

namespace strew::inline v0::pto {

Status Core::gather_l1(const Statement& s) {
  const std::string& name = s.operands[2][0];
  const View &table = value(s.operands[0][0]).view, &indices = value(s.operands[1][0]).view;
  const Tile& tile = value(name).tile;
  const bool by_row = s.opcode == Opcode::gather_l1;
  const int64_t wanted_rows = by_row ? 1 : tile.valid_rows, wanted_cols = by_row ? tile.valid_rows : tile.valid_cols;
  if (indices.rows() != wanted_rows || indices.cols() != wanted_cols)
    return fail(s, "the indices are " + size_text(indices.rows(), indices.cols()) + ", expected " +
                       size_text(wanted_rows, wanted_cols) + " as the data has");
  if (by_row && table.cols() < tile.valid_cols)
    return fail(s, "the table has " + std::to_string(table.cols()) + " columns and the tile " + std::to_string(tile.valid_cols) +
                       ", expected as many");
  const int64_t capacity = table.rows() * (by_row ? 1 : table.cols());
  const Event now = issue(s, 0), scalar_unit = issue(s, 1);
  const View* scratch = by_row ? nullptr : &value(s.operands[3][0]).view;
  if (scratch != nullptr && scratch->rows() * scratch->cols() < tile.rows * tile.cols)
    return fail(s, "the scratch memory has " + std::to_string(scratch->rows() * scratch->cols()) + " elements, expected the " +
                       std::to_string(tile.rows * tile.cols) + " of the tile");
  STREW_TRY(touch(now, name, Access::write));
  for (const auto& [r, c] : tile.elements()) {
    const int64_t at = by_row ? indices.element(0, r) : indices.element(r, c);
    STREW_TRY(touch_memory(scalar_unit, indices.memory, at, Access::read));
    STREW_ASSIGN(const int64_t place, slot(s, load_code(indices.memory, at), capacity, s.attribute("gatherOob")));
    uint64_t code = 0;
    if (place >= 0) {
      const int64_t element = by_row ? table.element(place, c) : table.offset + place;
      STREW_TRY(touch_memory(by_row ? now : scalar_unit, table.memory, element, Access::read));
      code = load_code(table.memory, element);
    }
    l1_.write(tile, r, c, code);
    if (scratch == nullptr) continue;
    const int64_t room = scratch->offset + (tile.byte_of(r, c) - tile.address) / tile.width();
    STREW_TRY(touch_memory(scalar_unit, scratch->memory, room, Access::write));
    store_code(scratch->memory, room, code);
  }
  count(now, tile, &SimulationReport::scattered_bytes);
  return {};
}

Status Core::move_l1(const Statement& s) {
  const std::string &from_name = s.operands[0][0], &to_name = s.operands[1][0];
  const Tile &from = value(from_name).tile, &to = value(to_name).tile;
  if (from.valid_rows != to.valid_rows || from.valid_cols != to.valid_cols)
    return fail(s, "%" + to_name + " has a valid part of " + size_text(to.valid_rows, to.valid_cols) + ", expected " +
                       size_text(from.valid_rows, from.valid_cols));
  const Event now = issue(s, 0);
  STREW_TRY(touch(now, from_name, Access::read));
  STREW_TRY(touch(now, to_name, Access::write));
  for (const auto& [r, c] : from.elements()) {
    STREW_ASSIGN(const uint64_t code, l1_.read(s, from, r, c, from_name));
    buffer_.write(to, r, c, code);
  }
  count(now, from);
  return {};
}

}  // namespace strew::inline v0::pto
