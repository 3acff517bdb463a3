// Lifter, part 3: one mscatter or mgather becomes one op over everything that its tiles cover in all iterations on
// all cores. The indices are read as u32. In mode `row` the windows of the op are rows of the table; in mode `elem`
// the table is seen as one dim, of which each index selects one element.
//
// Both chips apply the duplicates of one instruction in order. Instructions of different cores have no order on the
// chip; the op applies them in the order of the cores. Tested by tests/unit/compiler/import/pto/pto_import_test.cc and
// tests/unit/backends/pto/simulate/pto_simulated_test.cc.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/importer.h"
#include "compiler/import/pto/lift.h"
#include "compiler/op/combiner.h"
#include "compiler/pto/instructions.h"
#include "compiler/pto/types.h"
#include "compiler/pto/words.h"
#include "strew/forms.h"

namespace strew::inline v0::pto {
namespace {

constexpr size_t kMaxKernels = 1024;

OobPolicy policy_of(std::string_view oob, bool rows) {
  if (oob == "skip") return OobPolicy::skip_window;
  if (oob == "zero") return rows ? OobPolicy::fill_window : OobPolicy::fill_element;
  if (oob == "clamp") return OobPolicy::clamp;
  return oob == "wrap" ? OobPolicy::wrap : OobPolicy::undefined;
}

CombinerKind combiner_of(std::string_view atomic) {
  if (atomic == "add") return CombinerKind::add;
  if (atomic == "max") return CombinerKind::max;
  return atomic == "min" ? CombinerKind::min : CombinerKind::assign;
}

}  // namespace

/// What the tiles at `slots` cover in all iterations on all cores.
Expected<Lifter::Cover> Lifter::covered(const Statement& s, const std::array<Slot, 2>& slots, const std::string& what) {
  std::vector<Loop> loops = loops_;
  if (scalars_.uses_cores()) loops.push_back({scalars_.block_idx(), 1, Poly::symbol(scalars_.block_num()), true, s.at});
  Cover out;
  for (size_t d = 0; d < 2; ++d) {
    Expected<Span> span = cover(scalars_, slots[d], loops);
    if (!span.ok()) return fail(s, "{}, dim {}: {}", what, d, span.status().message());
    if (scalars_.moves(span->begin) || scalars_.moves(span->extent))
      return fail(s, "{}, dim {}: it is at {} with size {}, expected nothing of a loop that has ended or of one core alone", what,
                  d, text(slots[d].offset), text(slots[d].size));
    for (const Multiple& m : span->multiples) multiples_.emplace(m.value, m.divisor);
    out[d] = std::move(*span);
  }
  return out;
}

/// The same for the content of a tile. Fails if it does not lie inside the memory or the gather's result that it
/// comes from.
Expected<Lifter::Cover> Lifter::covered_content(const Statement& s, const TileContent& tile, const std::string& what,
                                                bool indices) {
  if (tile.content->floored && !indices)
    return fail(s, "{} holds numbers that pto.tmaxs has changed, expected what a tload or mgather put there", what);
  STREW_ASSIGN(Cover out, covered(s, tile.content->slots, what));
  if (tile.content->memory >= 0) {
    STREW_TRY(fit(s, tile.content->memory, out));
    return out;
  }
  // A gather's result has exactly the extents of the tiles that it was gathered to, in the loops of that gather.
  for (size_t d = 0; d < 2; ++d) {
    STREW_TRY(assume_cores(s, out[d], tile.content->from->dims[d]));
    if (out[d].begin.is(0) && out[d].extent == tile.content->from->dims[d]) continue;
    return fail(s, "{} holds what was gathered in other loops, expected the same", what);
  }
  return out;
}

/// The elements that all tiles with this content cover, as one value of the program.
Expected<ShapedValue> Lifter::covered_value(const Statement& s, const Content& content, const Cover& cover) {
  if (content.memory < 0) return *content.from;
  const Memory& memory = memories_[content.memory];
  return build_.part(*content.from, begin_of(memory, cover), extent_of(memory, cover),
                     build_.location(s.at, "part of %" + memory.name));
}

bool Lifter::alike(const Slot& a, const Span& covered_a, const Slot& b, const Span& covered_b) {
  return a.size == b.size && covered_a.extent == covered_b.extent && covered_a.loops == covered_b.loops &&
         scalars_.subtract(a.offset, covered_a.begin) == scalars_.subtract(b.offset, covered_b.begin);
}

/// Requires that every loop moves the tile in exactly one dim, and that the cores divide the tiles if a function that
/// reads its core number writes memory.
Status Lifter::check_loops(const Statement& s, const Cover& cover, bool writes) const {
  for (size_t i = 0; i <= loops_.size(); ++i) {
    const bool moves_rows = contains(cover[0].loops, i), moves_cols = contains(cover[1].loops, i);
    if (moves_rows && moves_cols) return fail(s, "a loop moves it in both dims, expected one");
    if (i < loops_.size() && !moves_rows && !moves_cols)
      return fail(s, "the loop in line {} repeats it, expected one that moves its tiles", loops_[i].at.line);
  }
  if (!splits_ || !writes || is_unordered(cover[0].loops) || is_unordered(cover[1].loops)) return {};
  return fail(s, "every core does it, expected tiles that are shared out by get_block_idx");
}

bool Lifter::is_unordered(const std::vector<size_t>& loops) const {
  return std::any_of(loops.begin(), loops.end(), [&](size_t i) { return i == loops_.size() || loops_[i].over_cores; });
}

/// The op combines duplicates in row-major order of positions. Refuses a program whose loops fix another order,
/// unless the order does not matter to the combiner's result.
Status Lifter::check_order(const Pair& p, const Cover& cover) const {
  const CombinerTraits* const combiner = find_combiner(combiner_of(p.statement->attribute("scatterAtomicOp")));
  const bool exact = combiner != nullptr && regroups_exactly(combiner->op, p.data->type.element.dtype);
  std::vector<size_t> nest = p.rows ? std::vector<size_t>() : cover[1].loops;
  const bool across = !nest.empty() && !p.data->valid[0].is(1);
  nest.insert(nest.end(), cover[0].loops.begin(), cover[0].loops.end());
  if (exact || is_unordered(nest)) return {};
  if (!across && std::is_sorted(nest.rbegin(), nest.rend())) return {};
  return fail(*p.statement,
              "its loops visit updates in another order than rows one after the other, which matters where indices repeat");
}

Status Lifter::check_shapes(const Pair& p) const {
  const Statement& s = *p.statement;
  const std::array<Poly, 2>&data = p.data->valid, &indices = p.indices->valid;
  if (p.rows ? indices[p.along] == data[0] && indices[1 - p.along].is(1) : indices == data) return {};
  return fail(s, "the valid part of the index tile is [{}, {}], expected [{}, {}], one index per {}", text(indices[0]),
              text(indices[1]), p.rows ? "1" : text(data[0]), text(data[p.rows ? 0 : 1]), p.rows ? "row of the data" : "element");
}

Status Lifter::check_table(const Pair& p) const {
  const Statement& s = *p.statement;
  const Memory& memory = memories_[p.table.memory];
  const Slot& columns = p.table.slots[1];
  if (!p.rows) {
    const bool line = p.table.row_stride == memory.cols || memory.rows.is(1);
    if (line && columns.offset.is(0) && columns.size == memory.cols) return {};
    return fail(s, "the table is part of rows or has padding, expected whole rows: an element's index counts all of them");
  }
  if (columns.size != p.data->valid[1])
    return fail(s, "rows of the table have {} elements, expected {} as the data tile", text(columns.size),
                text(p.data->valid[1]));
  if (module_.chip != Chip::a5) return {};
  if (p.table.folded)
    return fail(s, "the table's rows are in more than one dim, expected one on a5, whose capacity is that dim alone");
  if (p.table.row_stride == columns.size || memory.rows.is(1)) return {};
  return fail(s,
              "rows of the table are {} apart and the tile's have {} elements, expected the same on a5, which takes one for the "
              "other",
              text(p.table.row_stride), text(columns.size));
}

/// The table of the op: a matrix in mode `row`, one dim in mode `elem`.
Expected<ShapedValue> Lifter::table_part(const Pair& p, const Cover& cover) {
  const Memory& memory = memories_[p.table.memory];
  const std::string where = build_.location(p.statement->at, "table %" + memory.name);
  const Poly &rows = cover[0].extent, &cols = cover[1].extent;
  STREW_ASSIGN(const ShapedValue part,
               build_.part(ShapedValue(current(p.table.memory)), begin_of(memory, cover), extent_of(memory, cover), where));
  return build_.reshaped(part, p.rows ? std::vector{rows, cols} : std::vector{scalars_.multiply(rows, cols)}, where);
}

TensorType Lifter::type_of(const ShapedValue& value) const {
  return {imported_.type(value.value).dtype, Builder::static_dims(value.dims), {}};
}

/// The type of the op's table. Padding between rows becomes a stride, if the table is all of a memory.
TensorType Lifter::table_type(const Pair& p, const ShapedValue& part) const {
  TensorType out = type_of(part);
  const Memory& memory = memories_[p.table.memory];
  const std::optional<int64_t> stride = p.table.row_stride.constant();
  if (p.rows && part.value == memory.now->value && stride && p.table.row_stride != memory.cols) out.strides = {*stride, 1};
  return out;
}

/// Adds the kernel of a statement whose data are `cover`, and returns its result.
Expected<int> Lifter::add_kernel(const Statement& s, const Expected<Op>& op, const std::vector<int>& arguments,
                                 const Cover& cover) {
  const std::string where = build_.location(s.at, name(s.opcode));
  if (!op.ok()) return op.status().with_prefix(where);
  STREW_ASSIGN(ProgramKernel kernel, verified_kernel(*op, where));
  const size_t number = imported_.kernels().size() - first_kernel_ + 1;
  kernel.name = (function_.name.empty() ? "main" : function_.name) + (number > 1 ? "_" + std::to_string(number) : "");
  kernel.set_tensors(arguments);
  if (!is_signed_integer(indices_of(kernel.op).dtype)) kernel.notes.push_back("indices are read as u32: -1 is 4294967295");
  if (!loops_.empty()) kernel.notes.push_back(fmt::format("one op for all tiles of the loop in line {}", loops_[0].at.line));
  if (cores_) kernel.notes.push_back(fmt::format("written for {} cores", *cores_));
  if (is_scatter(kernel.op) && (is_unordered(cover[0].loops) || is_unordered(cover[1].loops)))
    kernel.notes.push_back("where tiles of different cores meet the chip has no order; here they come in order");
  return ProgramBuilder(imported_, where).kernel(std::move(kernel))[0];
}

Status Lifter::indexed(const Statement& s) {
  if (imported_.kernels().size() >= kMaxKernels)
    return fail(s, "it is kernel {}, expected at most {}", kMaxKernels + 1, kMaxKernels);
  Pair p;
  p.statement = &s;
  p.rows = s.attribute("coalesce") == "row";
  const bool scatters = s.opcode == Opcode::mscatter;
  const std::string& table = s.operands[scatters ? 2 : 0][0];
  p.indices = &tiles_.at(s.operands[1][0]);
  p.along = p.rows && p.indices->type.tile.blayout != "col_major" ? 1 : 0;
  p.data = &tiles_.at(scatters ? s.operands[0][0] : s.opcode == Opcode::mgather ? s.operands[2][0] : s.result);
  if (const auto region = regions_.find(table); region != regions_.end()) {
    p.table = region->second;
  } else {
    const int number = memory_by_name_.at(table);
    const Memory& memory = memories_[number];
    p.table = {number, {Slot{0, memory.rows}, Slot{0, memory.cols}}, memory.cols};
  }
  if (!p.indices->content) return fail(s, "nothing was put into %{} before, expected a tload of indices", s.operands[1][0]);
  if (scatters && !p.data->content)
    return fail(s, "nothing was put into %{} before, expected a tload or mgather", s.operands[0][0]);
  STREW_TRY(check_shapes(p));
  STREW_TRY(check_table(p));
  STREW_TRY(touch(s, p.table.memory, scatters));
  return scatters ? scatter(p) : gather(p);
}

/// Requires that the loops move the index tile together with the rows of the data.
Status Lifter::check_indices(const Pair& p, const Cover& indices, const Slot& data, const Span& data_cover) {
  const Span& across = indices[1 - p.along];
  const bool fixed = !p.rows || (across.loops.empty() && across.extent.is(1));
  if (fixed && alike(p.indices->content->slots[p.along], indices[p.along], data, data_cover)) return {};
  return fail(*p.statement, "the index tile and the data move apart, expected the same rows of both in every round");
}

/// The indices of all tiles as one value. They are u32, except where a maximum with 0 (pto.tmaxs) was applied to
/// them: then they are signed, and the policy must be clamp, whose lower end is that maximum.
Expected<ShapedValue> Lifter::index_list(const Pair& p, const Cover& indices, const Cover& data, std::string_view oob) {
  const Statement& s = *p.statement;
  std::vector<Poly> list = {data[0].extent};
  if (!p.rows) list.push_back(data[1].extent);
  const Content& content = *p.indices->content;
  const std::string where = build_.location(s.at, "indices as u32");
  STREW_ASSIGN(const ShapedValue raw, covered_value(s, content, indices));
  STREW_ASSIGN(const ShapedValue values, build_.reshaped(raw, list, where));
  if (!content.floored) return build_.as_u32(values, p.indices->type.element.dtype, where);
  if (oob == "clamp") return values;
  return fail(s, "indices that pto.tmaxs brings up to 0 meet {}, expected clamp: an op brings up both ends or none",
              oob.empty() ? "no mode" : oob);
}

Expected<Lifter::Cover> Lifter::covered_table(const Pair& p) {
  STREW_ASSIGN(Cover table, covered(*p.statement, p.table.slots, "the table"));
  STREW_TRY(fit(*p.statement, p.table.memory, table));
  if (table[0].loops.empty() && (p.rows || table[1].loops.empty())) return table;
  return fail(*p.statement, "the table moves from tile to tile, expected one table");
}

Status Lifter::scatter(const Pair& p) {
  const Statement& s = *p.statement;
  STREW_ASSIGN(Cover data, covered_content(s, *p.data, "%" + s.operands[0][0]));
  STREW_ASSIGN(Cover indices, covered_content(s, *p.indices, "%" + s.operands[1][0], true));
  STREW_ASSIGN(const Cover table, covered_table(p));
  const Content &data_content = *p.data->content, &index_content = *p.indices->content;
  STREW_TRY(check_indices(p, indices, data_content.slots[0], data[0]));
  if (!p.rows && !alike(index_content.slots[1], indices[1], data_content.slots[1], data[1]))
    return fail(s, "the index tile and the data move apart in columns, expected the same in every round");
  if (p.rows && !alike(p.table.slots[1], table[1], data_content.slots[1], data[1]))
    return fail(s, "columns of the table and of the data move apart, expected the same in every round");
  STREW_TRY(check_loops(s, data, true));
  STREW_TRY(check_order(p, data));

  const std::string_view oob = s.attribute("scatterOob");
  STREW_ASSIGN(const ShapedValue index_values, index_list(p, indices, data, oob));
  STREW_ASSIGN(const ShapedValue covered_data, covered_value(s, data_content, data));
  STREW_ASSIGN(const ShapedValue updates,
               build_.reshaped(covered_data, {data[0].extent, data[1].extent}, build_.location(s.at, "updates")));
  STREW_ASSIGN(const ShapedValue part, table_part(p, table));
  ScatterBuilder op = scatter_rows(table_type(p, part), type_of(index_values), type_of(updates));
  op.combine(combiner_of(s.attribute("scatterAtomicOp"))).in_place().oob(policy_of(oob, p.rows));
  STREW_ASSIGN(const int updated, add_kernel(s, op.build(), {part.value, index_values.value, updates.value}, data));
  return put(s, p.table.memory, table, {updated, part.dims});
}

Status Lifter::gather(const Pair& p) {
  const Statement& s = *p.statement;
  STREW_ASSIGN(Cover indices, covered_content(s, *p.indices, "%" + s.operands[1][0], true));
  STREW_ASSIGN(const Cover table, covered_table(p));
  const Span& across = indices[1 - p.along];
  if (p.rows && (!across.loops.empty() || !across.extent.is(1)))
    return fail(s, "the index tile moves across its list, expected along it");
  const Cover result = {indices[p.along], p.rows ? table[1] : indices[1]};
  STREW_TRY(check_loops(s, result, false));

  const std::string_view oob = s.attribute("gatherOob");
  STREW_ASSIGN(const ShapedValue index_values, index_list(p, indices, result, oob));
  STREW_ASSIGN(const ShapedValue part, table_part(p, table));
  const TensorType type = table_type(p, part);
  GatherBuilder op = gather_rows(type, type_of(index_values)).oob(policy_of(oob, p.rows));
  std::vector<int64_t> window = type.dims;
  window[0] = 1;  // of an empty table, too, which verify() then refuses
  op.slice_sizes(std::move(window));
  if (oob == "zero") op.fill(policy_of(oob, p.rows), Scalar{type.dtype});
  STREW_ASSIGN(const int gathered, add_kernel(s, op.build(), {part.value, index_values.value}, result));
  Content out;
  out.from = ShapedValue{gathered, {result[0].extent, result[1].extent}};
  const std::array<Slot, 2>& slots = p.indices->content->slots;
  const Slot &rows = slots[p.along], &columns = p.rows ? p.table.slots[1] : slots[1];
  out.slots = {Slot{scalars_.subtract(rows.offset, result[0].begin), rows.size},
               Slot{scalars_.subtract(columns.offset, result[1].begin), columns.size}};
  p.data->content = std::move(out);
  return {};
}

}  // namespace strew::inline v0::pto
