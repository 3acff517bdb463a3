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

Status Core::check_indices(const Statement& s, const Indexed& what) const {
  const auto& [table, data, name, oob] = what;
  const Tile& indices = value(name).tile;
  const bool by_row = s.attribute("coalesce") == "row";
  const bool column = by_row && indices.column_major;
  const int64_t rows = column ? indices.valid_cols : indices.valid_rows, cols = column ? indices.valid_rows : indices.valid_cols;
  const int64_t wanted_rows = by_row ? 1 : data.valid_rows, wanted_cols = by_row ? data.valid_rows : data.valid_cols;
  if (rows != wanted_rows || cols != wanted_cols)
    return fail(s, "the valid indices are " + size_text(rows, cols) + ", expected " + size_text(wanted_rows, wanted_cols) +
                       " as the data has");
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

Expected<std::optional<int64_t>> Core::selected(const Statement& s, const Indexed& what, int64_t row, int64_t col) const {
  const auto& [table, data, name, oob] = what;
  const Tile& indices = value(name).tile;
  const bool by_row = s.attribute("coalesce") == "row";
  const int64_t index_row = by_row && !indices.column_major ? 0 : row, index_col = !by_row ? col : indices.column_major ? 0 : row;
  STREW_ASSIGN(const uint64_t index, buffer_.read(s, indices, index_row, index_col, name));
  STREW_ASSIGN(const int64_t place, slot(s, index, capacity_of(table, by_row), oob));
  if (place < 0) return std::optional<int64_t>();
  int64_t element = table.offset + place;
  if (table.fractal) {
    // Elements are counted along the rows of the matrix, whatever their order in memory is.
    element = by_row ? table.element(place, col) : table.element(place / table.cols(), place % table.cols());
  } else if (by_row && machine_.chip() == Chip::a5) {
    element = table.offset + static_cast<int64_t>(static_cast<uint32_t>(place) * static_cast<uint32_t>(data.valid_cols)) + col;
  } else if (by_row) {
    element = table.element(place, col);
  }
  return std::optional(element);
}

Status Core::gather(const Statement& s, const std::string& table, const std::string& indices, const std::string& name) {
  const Tile& tile = value(name).tile;
  const Indexed what{value(table).view, tile, indices, s.attribute("gatherOob")};
  STREW_TRY(check_indices(s, what));
  const Event now = issue(s, 0);
  const bool apart = pipe_of(s, machine_.chip(), 1) != now.pipe;
  STREW_TRY(touch(apart ? issue(s, 1) : now, indices, Access::read));
  STREW_TRY(touch(now, name, Access::write));
  for (const auto& [r, c] : tile.elements()) {
    STREW_ASSIGN(const std::optional<int64_t> element, selected(s, what, r, c));
    if (element) STREW_TRY(touch_memory(now, what.table.memory, *element, Access::read));
    buffer_.write(tile, r, c, element ? load_code(what.table.memory, *element) : 0);
  }
  count(now, tile, &SimulationReport::scattered_bytes);
  return {};
}

Status Core::scatter(const Statement& s) {
  const std::string &name = s.operands[0][0], &indices = s.operands[1][0];
  const Tile& data = value(name).tile;
  const Indexed what{value(s.operands[2][0]).view, data, indices, s.attribute("scatterOob")};
  STREW_TRY(check_indices(s, what));
  Scatter out;
  out.statement = &s;
  out.event = issue(s, 0);
  STREW_TRY(touch(out.event, name, Access::read));
  STREW_TRY(touch(out.event, indices, Access::read));
  for (const auto& [r, c] : data.elements()) {
    STREW_ASSIGN(const uint64_t code, buffer_.read(s, data, r, c, name));
    STREW_ASSIGN(const std::optional<int64_t> element, selected(s, what, r, c));
    if (!element) continue;
    STREW_TRY(touch_memory(out.event, what.table.memory, *element, Access::write));
    out.writes.emplace_back(*element, code);
  }
  count(out.event, data, &SimulationReport::scattered_bytes);
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
  const Computation what = atomic == "add"   ? Computation::add
                           : atomic == "max" ? Computation::max
                           : atomic == "min" ? Computation::min
                                             : Computation::move;
  const bool splits = what != Computation::move && machine_.chip() == Chip::a3 && s.attribute("coalesce") == "elem";
  size_t turns = machine_.interrupts() ? 1 + machine_.random.below(64) : call.writes.size();
  for (; call.next < call.writes.size() && turns > 0; --turns) {
    const auto& [element, code] = call.writes[call.next];
    if (!call.held) {
      call.held = what == Computation::move ? code : compute(what, dtype, load_code(memory, element), code);
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
