// MSCATTER and MGATHER of machine.h. Every index is a u32 to the chip, so a negative one is very large.
//
// a3 is sequential, so of updates that meet, the last wins. a5 runs a thread per element, in an order that Launch chooses; with Conflict::last
// the last update wins in any order. Tested by tests/unit/pto_cpu/machine_test.cc.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

#include "tests/pto_cpu/machine/elements.h"

namespace pto_cpu {

namespace {

/// The table of one instruction: how many slots it has, and where an element lies.
class Table {
 public:
  Table(Core& core, const GlobalView& view, bool rows, int64_t tile_cols)
      : core_(core), view_(view), rows_(rows), tile_cols_(tile_cols) {
    for (const int64_t extent : view.shape)
      if (extent < 0) core.fail("an extent of the table is " + std::to_string(extent) + ", expected 0 or more");
    if (rows && view.cols() != tile_cols)
      core.fail("the table has " + std::to_string(view.cols()) + " columns, expected " + std::to_string(tile_cols) +
                " as the tile");
    if (!rows && !view.fractals) require_packed();
  }

  int64_t slots() const {
    if (!rows_) return view_.rows() * view_.cols();
    return core_.chip() == Chip::a5 ? view_.shape[3] : view_.rows();
  }

  std::byte* at(uint32_t slot, int64_t col) const {
    int64_t row = slot;
    if (!rows_) {
      if (!view_.fractals) return place(slot);
      row = slot / view_.cols();
      col = slot % view_.cols();
    }
    if (view_.fractals)
      return place(col / view_.shape[4] * view_.stride[1] + row / view_.shape[3] * view_.stride[2] +
                   row % view_.shape[3] * view_.stride[3] + col % view_.shape[4]);
    // a5 takes the tile's width for the distance of rows, and multiplies in 32 bits.
    if (core_.chip() == Chip::a5) return place(slot * static_cast<uint32_t>(tile_cols_) + col);
    return place(row * view_.stride[3] + col);
  }

  /// The slot that an index means, or nothing if it is out of bounds and names none.
  std::optional<uint32_t> slot(uint64_t index, Bounds bounds) const {
    const auto asked = static_cast<uint32_t>(index);
    if (asked < slots()) return asked;
    if (bounds == Bounds::undefined)
      core_.fail("index " + std::to_string(static_cast<int32_t>(asked)) + " is out of bounds: the table has " +
                 std::to_string(slots()) + " slots, and the mode is Undefined");
    if (bounds == Bounds::skip || bounds == Bounds::zero) return std::nullopt;
    if (slots() == 0) core_.fail("the table has no slots, so an index cannot be clamped or wrapped");
    return static_cast<uint32_t>(bounds == Bounds::clamp ? slots() - 1 : asked % slots());
  }

 private:
  std::byte* place(int64_t element) const { return static_cast<std::byte*>(view_.data) + element * size_of(view_.type); }

  /// Elements are numbered as if the table had no gaps.
  void require_packed() const {
    int64_t step = 1;
    for (int d = 4; d >= 0; step *= view_.shape[d--])
      if (view_.shape[d] > 1 && view_.stride[d] != step)
        core_.fail("dim " + std::to_string(d) + " of the table has stride " + std::to_string(view_.stride[d]) + ", expected " +
                   std::to_string(step) + ", because elements are selected by their number");
  }

  Core& core_;
  const GlobalView& view_;
  const bool rows_;
  const int64_t tile_cols_;
};

void require_indices(Core& core, const TileView& data, const TileView& indices, bool rows) {
  const bool row = indices.valid_rows == 1 && indices.valid_cols == data.valid_rows;
  const bool column = indices.valid_cols == 1 && indices.valid_rows == data.valid_rows && indices.places == Places::columns;
  const bool same = indices.valid_rows == data.valid_rows && indices.valid_cols == data.valid_cols;
  if (rows ? !(row || (column && core.chip() == Chip::a5)) : !same)
    core.fail("the index tile is " + std::to_string(indices.valid_rows) + "x" + std::to_string(indices.valid_cols) +
              " for data of " + std::to_string(data.valid_rows) + "x" + std::to_string(data.valid_cols));
}

Operation operation_of(Atomic atomic) {
  return atomic == Atomic::add ? Operation::add : atomic == Atomic::max ? Operation::max : Operation::min;
}
Access access_of(Atomic atomic) {
  return atomic == Atomic::add ? Access::add : atomic == Atomic::max ? Access::max : Access::min;
}

}  // namespace

void scatter(const GlobalView& table, const TileView& data, const TileView& indices, bool rows, Atomic atomic, Bounds bounds,
             Conflict conflict, int line) {
  Core& core = Core::current();
  const bool a5 = core.chip() == Chip::a5;
  core.begin(a5 ? Pipe::v : Pipe::mte3, "MSCATTER", line);
  require_indices(core, data, indices, rows);
  count(core, &Counts::indexed_bytes, data);
  if (!a5 && !rows) core.counts().scalars += indices.valid_cols;
  const Table slots(core, table, rows, data.valid_cols);
  const std::vector<uint64_t> values = read_all(core, data), asked = read_all(core, indices);
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const bool any_order = a5 && (atomic != Atomic::none || conflict == Conflict::any);
  if (any_order && core.shared.launch.threads_backwards) std::reverse(order.begin(), order.end());
  const auto cols = static_cast<size_t>(data.valid_cols);
  for (const size_t i : order) {
    const std::optional<uint32_t> slot = slots.slot(asked[rows ? i / cols : i], bounds);
    if (!slot) continue;
    std::byte* const place = slots.at(*slot, static_cast<int64_t>(i % cols));
    uint64_t value = values[i];
    Access access = Access::write;
    if (atomic != Atomic::none) {
      // a3 reads, adds and writes an element by the scalar unit: to other blocks that is a read and a write.
      const bool by_memory = a5 || rows;
      const int64_t bytes = size_of(data.type);
      if (by_memory) access = access_of(atomic);
      const uint64_t before = by_memory ? core.value_for_atomic(place, bytes) : element_at(data.type, core.read(place, bytes));
      value = combined(operation_of(atomic), data.type, before, value);
    }
    core.write(place, reinterpret_cast<const std::byte*>(&value), size_of(data.type), access);
  }
}

void gather(const TileView& data, const GlobalView& table, const TileView& indices, bool rows, Bounds bounds, int line) {
  Core& core = Core::current();
  const bool a5 = core.chip() == Chip::a5;
  core.begin(a5 ? Pipe::v : Pipe::s, "MGATHER", line);
  require_indices(core, data, indices, rows);
  count(core, &Counts::indexed_bytes, data);
  if (!a5 && !rows) core.counts().scalars += indices.valid_cols;
  const Table slots(core, table, rows, data.valid_cols);
  const std::vector<uint64_t> asked = read_all(core, indices);
  if (!a5 && rows) core.go_on(Pipe::mte2);
  std::vector<uint64_t> out(static_cast<size_t>(data.valid_rows * data.valid_cols));
  const auto cols = static_cast<size_t>(data.valid_cols);
  for (size_t i = 0; i < out.size(); ++i)
    if (const std::optional<uint32_t> slot = slots.slot(asked[rows ? i / cols : i], bounds))
      out[i] = element_at(data.type, core.read(slots.at(*slot, static_cast<int64_t>(i % cols)), size_of(data.type)));
  write_all(core, data, out);
}

void gather(const TileView& data, const GlobalView& table, const GlobalView& indices, const GlobalView* scratch, Bounds bounds,
            int line) {
  Core& core = Core::current();
  core.begin(Pipe::s, "MGATHER", line);
  count(core, &Counts::indexed_bytes, data);
  const bool rows = scratch == nullptr;
  const bool fits = rows ? indices.rows() == 1 && indices.cols() == data.valid_rows
                         : indices.rows() == data.valid_rows && indices.cols() == data.valid_cols;
  if (!fits)
    core.fail("the indices are " + std::to_string(indices.rows()) + "x" + std::to_string(indices.cols()) + " for data of " +
              std::to_string(data.valid_rows) + "x" + std::to_string(data.valid_cols));
  const Table slots(core, table, rows, data.valid_cols);
  const std::vector<uint64_t> asked = read_all(core, indices);
  std::vector<uint64_t> out(static_cast<size_t>(data.valid_rows * data.valid_cols));
  const auto cols = static_cast<size_t>(data.valid_cols);
  if (rows) core.go_on(Pipe::mte2);
  for (size_t i = 0; i < out.size(); ++i)
    if (const std::optional<uint32_t> slot = slots.slot(asked[rows ? i / cols : i], bounds))
      out[i] = element_at(data.type, core.read(slots.at(*slot, static_cast<int64_t>(i % cols)), size_of(data.type)));
  if (!rows) {
    // The scalar unit writes the elements to memory, from where MTE2 brings them.
    if (scratch->rows() != data.valid_rows || scratch->cols() != data.valid_cols)
      core.fail("the scratch argument is " + std::to_string(scratch->rows()) + "x" + std::to_string(scratch->cols()) +
                ", expected " + std::to_string(data.valid_rows) + "x" + std::to_string(data.valid_cols) + " as the data");
    write_all(core, *scratch, out);
    core.go_on(Pipe::mte2);
    out = read_all(core, *scratch);
  }
  write_all(core, data, out);
}

}  // namespace pto_cpu
