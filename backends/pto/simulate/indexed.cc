// Simulates mscatter and mgather, as the chips' headers define them.
//
// Indices are u32. Row mode: on a5 the number of rows is the extent of the dim before the last, and the distance of
// rows is the tile's width, computed in 32 bits; on a3 the number of rows is the product of all dims before the last,
// and the distance is the table's stride. Element mode counts elements from the table's start.
//
// If an mscatter has several updates for one destination: on a3, and with mode `last` on a5, the last one wins. With
// mode `default`, and for atomics, a5's threads come in any order. a3 combines single elements by a scalar read, an
// operation and a write, between which other cores may run. Tested by tests/unit/backends/pto/simulate/pto_simulate_test.cc.
#include <algorithm>

#include "backends/pto/simulate/arithmetic.h"
#include "backends/pto/simulate/core.h"

namespace strew::inline v0::pto {

int64_t Core::capacity_of(const View& table, bool by_row) const {
  if (table.fractal) return by_row ? table.rows() : table.rows() * table.cols();
  const size_t rank = table.shape.size();
  int64_t out = 1;
  if (by_row && machine_.chip() == Chip::a5) return rank < 2 ? 1 : table.shape[rank - 2];
  for (size_t d = 0; d + (by_row ? 1 : 0) < rank; ++d) out *= table.shape[d];
  return out;
}

Status Core::check_indices(const Statement& s, const View& table, const Tile& data, const Tile& indices) const {
  const bool by_row = s.attribute("coalesce") == "row";
  const bool column = by_row && indices.column_major;
  const int64_t rows = column ? indices.valid_cols : indices.valid_rows, cols = column ? indices.valid_rows : indices.valid_cols;
  const int64_t wanted_rows = by_row ? 1 : data.valid_rows, wanted_cols = by_row ? data.valid_rows : data.valid_cols;
  if (rows != wanted_rows || cols != wanted_cols)
    return fail(s, "the valid indices are " + std::to_string(rows) + "x" + std::to_string(cols) + ", expected " +
                       std::to_string(wanted_rows) + "x" + std::to_string(wanted_cols) + " as the data has");
  if (table.fractal != data.fractal) return fail(s, "table and tile are not both in fractals, expected both or neither");
  const int64_t width = table.cols();
  const bool fits = machine_.chip() == Chip::a5 ? width == data.valid_cols : width >= data.valid_cols;
  if (!by_row || fits) return {};
  return fail(s, "the table has " + std::to_string(width) + " columns and the tile " + std::to_string(data.valid_cols) +
                     ", expected as many");
}

Expected<int64_t> Core::slot(const Statement& s, uint64_t index, int64_t capacity, std::string_view oob) const {
  if (index < static_cast<uint64_t>(capacity)) return static_cast<int64_t>(index);
  if (oob == "skip" || oob == "zero") return int64_t{-1};
  if (capacity == 0) return fail(s, "the table has no slots, expected one for index " + std::to_string(index));
  if (oob == "clamp") return capacity - 1;
  if (oob == "wrap") return static_cast<int64_t>(index % static_cast<uint64_t>(capacity));
  return fail(s, "index " + std::to_string(index) + " is out of bounds, expected one below " + std::to_string(capacity) +
                     ", or a mode that says what happens");
}

Expected<int64_t> Core::slot_element(const Statement& s, const View& table, int64_t slot, int64_t col, int64_t cols,
                                     bool by_row) const {
  int64_t element = table.offset + slot;
  if (table.fractal) {
    // Elements are counted along the rows of the matrix, whatever their order in memory is.
    element = by_row ? table.element(slot, col) : table.element(slot / table.cols(), slot % table.cols());
  } else if (by_row && machine_.chip() == Chip::a5) {
    element = table.offset + static_cast<int64_t>(static_cast<uint32_t>(slot) * static_cast<uint32_t>(cols)) + col;
  } else if (by_row) {
    element = table.element(slot, col);
  }
  STREW_TRY(in_range(s, table.memory, element));
  return element;
}

Status Core::gather(const Statement& s, const std::string& table_name, const std::string& indices_name,
                    const std::string& tile_name) {
  const View& table = value(table_name).view;
  const Tile &indices = value(indices_name).tile, &tile = value(tile_name).tile;
  STREW_TRY(check_indices(s, table, tile, indices));
  const bool by_row = s.attribute("coalesce") == "row";
  const int64_t capacity = capacity_of(table, by_row);
  Event now = issue(s, 0), index_time = now;
  if (pipe_of(s, machine_.chip(), 1) != now.pipe) index_time = issue(s, 1);
  STREW_TRY(touch(index_time, indices_name, Access::read));
  STREW_TRY(touch(now, tile_name, Access::write));
  for (int64_t r = 0; r < tile.valid_rows; ++r) {
    for (int64_t c = 0; c < tile.valid_cols; ++c) {
      uint64_t index = 0;
      const int64_t row = by_row && !indices.column_major ? 0 : r, col = by_row ? (indices.column_major ? 0 : r) : c;
      STREW_TRY(buffer_.read(s, indices, row, col, indices_name, index));
      STREW_ASSIGN(const int64_t place, slot(s, index, capacity, s.attribute("gatherOob")));
      if (place < 0) {
        buffer_.write(tile, r, c, 0);
        continue;
      }
      STREW_ASSIGN(const int64_t element, slot_element(s, table, place, c, tile.valid_cols, by_row));
      STREW_TRY(touch_memory(now, table.memory, element, Access::read));
      buffer_.write(tile, r, c, load_code(table.memory, element));
    }
  }
  ++report_.instructions;
  report_.scattered_bytes += tile.valid_rows * tile.valid_cols * tile.width();
  pipes_.runs(now, tile.valid_rows * tile.valid_cols * tile.width());
  return {};
}

Status Core::scatter(const Statement& s) {
  const std::string &data_name = s.operands[0][0], &indices_name = s.operands[1][0];
  const View& table = value(s.operands[2][0]).view;
  const Tile &data = value(data_name).tile, &indices = value(indices_name).tile;
  STREW_TRY(check_indices(s, table, data, indices));
  const bool by_row = s.attribute("coalesce") == "row";
  const int64_t capacity = capacity_of(table, by_row);
  Scatter out;
  out.statement = &s;
  out.event = issue(s, 0);
  STREW_TRY(touch(out.event, data_name, Access::read));
  STREW_TRY(touch(out.event, indices_name, Access::read));
  for (int64_t r = 0; r < data.valid_rows; ++r) {
    for (int64_t c = 0; c < data.valid_cols; ++c) {
      uint64_t index = 0, code = 0;
      const int64_t row = by_row && !indices.column_major ? 0 : r, col = by_row ? (indices.column_major ? 0 : r) : c;
      STREW_TRY(buffer_.read(s, indices, row, col, indices_name, index));
      STREW_TRY(buffer_.read(s, data, r, c, data_name, code));
      STREW_ASSIGN(const int64_t place, slot(s, index, capacity, s.attribute("scatterOob")));
      if (place < 0) continue;
      STREW_ASSIGN(const int64_t element, slot_element(s, table, place, c, data.valid_cols, by_row));
      STREW_TRY(touch_memory(out.event, table.memory, element, Access::write));
      out.writes.emplace_back(element, code);
    }
  }
  ++report_.instructions;
  report_.scattered_bytes += data.valid_rows * data.valid_cols * data.width();
  pipes_.runs(out.event, data.valid_rows * data.valid_cols * data.width());
  const std::string_view atomic = s.attribute("scatterAtomicOp"), conflict = s.attribute("scatterConflict");
  const bool combines = !atomic.empty() && atomic != "none";
  const bool any_order = machine_.chip() == Chip::a5 && (combines || conflict == "default");
  if (any_order && machine_.options.seed == 1) std::reverse(out.writes.begin(), out.writes.end());
  if (any_order && machine_.options.seed > 1)
    for (size_t i = out.writes.size(); i > 1; --i) std::swap(out.writes[i - 1], out.writes[machine_.random.below(i)]);
  scatter_ = std::move(out);
  return scatter_some();
}

/// Executes the remaining writes of an mscatter, or some of them if another core may run in between.
Status Core::scatter_some() {
  Scatter& call = *scatter_;
  const Statement& s = *call.statement;
  const int memory = value(s.operands[2][0]).view.memory;
  const DType dtype = machine_.memories[static_cast<size_t>(memory)].dtype;
  const std::string_view atomic = s.attribute("scatterAtomicOp");
  const TileCompute what = atomic == "add"   ? TileCompute::add
                           : atomic == "max" ? TileCompute::max
                           : atomic == "min" ? TileCompute::min
                                             : TileCompute::move;
  const bool splits = what != TileCompute::move && machine_.chip() == Chip::a3 && s.attribute("coalesce") == "elem";
  size_t turns = machine_.interrupts() ? 1 + machine_.random.below(64) : call.writes.size();
  for (; call.next < call.writes.size() && turns > 0; --turns) {
    const auto& [element, code] = call.writes[call.next];
    if (!call.held) {
      call.held = what == TileCompute::move ? code : compute(what, dtype, load_code(memory, element), code);
      if (splits && machine_.interrupts() && machine_.random.below(4) == 0) return {};
    }
    store_code(memory, element, *call.held);
    call.held.reset();
    ++call.next;
  }
  if (call.next == call.writes.size()) scatter_.reset();
  return {};
}

}  // namespace strew::inline v0::pto
