// Lifter, part 3: one mscatter or mgather becomes one op over everything that its tiles cover in all iterations on
// all cores. The indices are read as u32. In mode `row` the windows of the op are rows of the table; in mode `elem`
// the table is seen as one dim, of which each index selects one element.
//
// Both chips apply the duplicates of one instruction in order. Instructions of different cores have no order on the
// chip; the op applies them in the order of the cores. Tested by tests/unit/compiler/import/pto/pto_import_test.cc and
// tests/unit/backends/pto/simulate/pto_simulated_test.cc.
#include <algorithm>

#include "compiler/import/importer.h"
#include "compiler/import/pto/lift.h"
#include "compiler/op/combiner.h"
#include "compiler/pto/instructions.h"
#include "compiler/pto/types.h"

namespace strew::inline v0::pto {
namespace {

constexpr size_t kMaxKernels = 1024;

OobPolicy scatter_policy(std::string_view oob) {
  if (oob == "skip") return OobPolicy::skip_window;
  if (oob == "clamp") return OobPolicy::clamp;
  return oob == "wrap" ? OobPolicy::wrap : OobPolicy::undefined;
}

OobPolicy gather_policy(std::string_view oob, bool rows) {
  if (oob == "zero") return rows ? OobPolicy::fill_window : OobPolicy::fill_element;
  if (oob == "clamp") return OobPolicy::clamp;
  return oob == "wrap" ? OobPolicy::wrap : OobPolicy::undefined;
}

CombinerKind combiner_of(std::string_view atomic) {
  if (atomic == "add") return CombinerKind::add;
  if (atomic == "max") return CombinerKind::max;
  return atomic == "min" ? CombinerKind::min : CombinerKind::assign;
}

TensorType type_of(DType dtype, const std::vector<Poly>& dims) { return {dtype, Builder::static_dims(dims), {}}; }

}  // namespace

/// What the tiles at `slots` cover in all iterations on all cores.
Expected<Lifter::Cover> Lifter::covered(const Statement& s, const std::array<Slot, 2>& slots, const std::string& what) {
  std::vector<Loop> loops = loops_;
  if (scalars_.uses_cores()) loops.push_back({scalars_.block_idx(), 1, Poly::symbol(scalars_.block_num()), true, s.at});
  Cover out;
  for (size_t d = 0; d < 2; ++d) {
    Expected<Span> span = cover(scalars_, slots[d], loops);
    if (!span.ok()) return fail(s, what + ", dim " + std::to_string(d) + ": " + span.status().message());
    if (scalars_.moves(span->begin) || scalars_.moves(span->extent))
      return fail(s, what + ", dim " + std::to_string(d) + ": it is at " + scalars_.text(slots[d].offset) + " with size " +
                         scalars_.text(slots[d].size) + ", expected nothing of a loop that has ended or of one core alone");
    for (const Multiple& m : span->multiples) multiples_.emplace(m.value, m.divisor);
    out.spans[d] = std::move(*span);
  }
  return out;
}

/// The same for the content of a tile. Fails if it does not lie inside the memory or the gather's result that it
/// comes from.
Expected<Lifter::Cover> Lifter::covered_content(const Statement& s, const TileContent& tile, const std::string& what,
                                                bool indices) {
  if (tile.content->floored && !indices)
    return fail(s, what + " holds numbers that pto.tmaxs has changed, expected what a tload or mgather put there");
  STREW_ASSIGN(Cover out, covered(s, tile.content->slots, what));
  if (tile.content->memory >= 0) STREW_TRY(fit(s, tile.content->memory, out));
  if (tile.content->memory < 0) {
    // A gather's result has exactly the extents of the tiles that it was gathered to, in the loops of that gather.
    for (size_t d = 0; d < 2; ++d) {
      STREW_TRY(assume_cores(s, out.spans[d], tile.content->from->dims[d]));
      if (out.spans[d].begin.is(0) && out.spans[d].extent == tile.content->from->dims[d]) continue;
      return fail(s, what + " holds what was gathered in other loops, expected the same");
    }
  }
  return out;
}

/// The elements that all tiles with this content cover, as one value of the program.
Expected<ShapedValue> Lifter::covered_value(const Statement& s, const Content& content, const Cover& cover) {
  if (content.memory < 0) return *content.from;
  const Memory& memory = memories_[static_cast<size_t>(content.memory)];
  const std::string where = build_.location(s.at, "part of %" + memory.name);
  return build_.part(*content.from, pick(memory, cover.spans[0].begin, cover.spans[1].begin),
                     pick(memory, cover.spans[0].extent, cover.spans[1].extent), where);
}

bool Lifter::alike(const Slot& a, const Span& covered_a, const Slot& b, const Span& covered_b) {
  return a.size == b.size && covered_a.extent == covered_b.extent && covered_a.loops == covered_b.loops &&
         scalars_.subtract(a.offset, covered_a.begin) == scalars_.subtract(b.offset, covered_b.begin);
}

/// Requires that every loop moves the tile in exactly one dim, and that the cores divide the tiles if a function that
/// reads its core number writes memory.
Status Lifter::check_loops(const Statement& s, const Cover& cover, bool writes) const {
  bool shared = false;
  for (size_t i = 0; i < loops_.size() + 1; ++i) {
    const auto in = [&](size_t d) {
      const std::vector<size_t>& loops = cover.spans[d].loops;
      return std::find(loops.begin(), loops.end(), i) != loops.end();
    };
    if (in(0) && in(1)) return fail(s, "a loop moves it in both dims, expected one");
    const bool core = i == loops_.size();
    if ((in(0) || in(1)) && (core || loops_[i].over_cores)) shared = true;
    if (core || in(0) || in(1)) continue;
    return fail(s, "the loop in line " + std::to_string(loops_[i].at.line) + " repeats it, expected one that moves its tiles");
  }
  if (splits_ && writes && !shared) return fail(s, "every core does it, expected tiles that are shared out by get_block_idx");
  return {};
}

/// The op combines duplicates in row-major order of positions. Refuses a program whose loops fix another order,
/// unless the order does not matter to the combiner's result.
Status Lifter::check_order(const Pair& p, const Cover& cover) const {
  const CombinerTraits* const combiner = find_combiner(combiner_of(p.statement->attribute("scatterAtomicOp")));
  const bool exact = combiner != nullptr && regroups_exactly(combiner->op, p.data->type.element.dtype);
  const auto free = [&](size_t loop) { return loop == loops_.size() || loops_[loop].over_cores; };
  std::vector<size_t> nest = p.rows ? std::vector<size_t>() : cover.spans[1].loops;
  const bool across = !nest.empty() && !p.data->valid[0].is(1);
  nest.insert(nest.end(), cover.spans[0].loops.begin(), cover.spans[0].loops.end());
  if (exact || std::any_of(nest.begin(), nest.end(), free)) return {};
  if (!across && std::is_sorted(nest.rbegin(), nest.rend())) return {};
  return fail(*p.statement,
              "its loops visit updates in another order than rows one after the other, which matters where indices repeat");
}

/// The dim of an index tile along which the list of indices runs in mode `row`.
size_t Lifter::list_dim(const TileContent& indices) const { return indices.type.tile.blayout == "col_major" ? 0 : 1; }

Status Lifter::check_shapes(const Pair& p) const {
  const Statement& s = *p.statement;
  const auto valid = [&](const TileContent& tile) {
    return "[" + scalars_.text(tile.valid[0]) + ", " + scalars_.text(tile.valid[1]) + "]";
  };
  const size_t along = list_dim(*p.indices);
  const bool fits = p.rows ? p.indices->valid[along] == p.data->valid[0] && p.indices->valid[1 - along].is(1)
                           : p.indices->valid == p.data->valid;
  if (fits) return {};
  return fail(s, "the valid part of the index tile is " + valid(*p.indices) + ", expected " +
                     (p.rows ? "[1, " + scalars_.text(p.data->valid[0]) + "], one index per row of the data"
                             : valid(*p.data) + ", one index per element"));
}

Status Lifter::check_table(const Pair& p) const {
  const Statement& s = *p.statement;
  const Memory& memory = memories_[static_cast<size_t>(p.table.memory)];
  if (!p.rows) {
    const bool line = p.table.row_stride == memory.cols || memory.rows.is(1);
    if (line && p.table.slots[1].offset.is(0) && p.table.slots[1].size == memory.cols) return {};
    return fail(s, "the table is part of rows or has padding, expected whole rows: an element's index counts all of them");
  }
  if (p.table.slots[1].size != p.data->valid[1])
    return fail(s, "rows of the table have " + scalars_.text(p.table.slots[1].size) + " elements, expected " +
                       scalars_.text(p.data->valid[1]) + " as the data tile");
  if (module_.chip != Chip::a5) return {};
  if (p.table.folded)
    return fail(s, "the table's rows are in more than one dim, expected one on a5, whose capacity is that dim alone");
  if (p.table.row_stride == p.table.slots[1].size || memory.rows.is(1)) return {};
  return fail(s, "rows of the table are " + scalars_.text(p.table.row_stride) + " apart and the tile's have " +
                     scalars_.text(p.table.slots[1].size) + " elements, expected the same on a5, which takes one for the other");
}

/// The table of the op: a matrix in mode `row`, one dim in mode `elem`.
Expected<ShapedValue> Lifter::table_part(const Pair& p, const Cover& cover) {
  const Memory& memory = memories_[static_cast<size_t>(p.table.memory)];
  const std::string where = build_.location(p.statement->at, "table %" + memory.name);
  const Poly rows = cover.spans[0].extent, cols = cover.spans[1].extent;
  STREW_ASSIGN(const ShapedValue part,
               build_.part(ShapedValue(current(p.table.memory)), pick(memory, cover.spans[0].begin, cover.spans[1].begin),
                           pick(memory, rows, cols), where));
  if (p.rows) return build_.reshaped(part, {rows, cols}, where);
  return build_.reshaped(part, {scalars_.multiply(rows, cols)}, where);
}

/// The type of the op's table. Padding between rows becomes a stride, if the table is all of a memory.
TensorType Lifter::table_type(const Pair& p, const ShapedValue& part) const {
  TensorType out = type_of(memories_[static_cast<size_t>(p.table.memory)].element.dtype, part.dims);
  const Memory& memory = memories_[static_cast<size_t>(p.table.memory)];
  const std::optional<int64_t> stride = p.table.row_stride.constant();
  if (p.rows && part.value == memory.now->value && stride && p.table.row_stride != memory.cols) out.strides = {*stride, 1};
  return out;
}

/// Adds the kernel of a statement whose data are `cover`, and returns its result.
Expected<int> Lifter::add_kernel(const Statement& s, Op op, const std::vector<int>& arguments, const Cover& cover) {
  STREW_ASSIGN(ProgramKernel kernel, verified_kernel(std::move(op), build_.location(s.at, name(s.opcode))));
  const size_t number = imported_.kernels().size() - first_kernel_ + 1;
  kernel.name = (function_.name.empty() ? "main" : function_.name) + (number > 1 ? "_" + std::to_string(number) : "");
  kernel.set_tensors(arguments);
  note_cover(kernel, cover);
  ProgramBuilder build(imported_, kernel.location);
  return build.kernel(std::move(kernel))[0];
}

void Lifter::note_cover(ProgramKernel& kernel, const Cover& cover) const {
  bool shared = false;
  for (const Span& span : cover.spans)
    for (const size_t loop : span.loops) shared = shared || loop == loops_.size() || loops_[loop].over_cores;
  const TensorType& indices = indices_of(kernel.op);
  if (!is_signed_integer(indices.dtype)) kernel.notes.push_back("indices are read as u32: -1 is 4294967295");
  if (!loops_.empty()) kernel.notes.push_back("one op for all tiles of the loop in line " + std::to_string(loops_[0].at.line));
  if (cores_) kernel.notes.push_back("written for " + std::to_string(*cores_) + " cores");
  if (shared && is_scatter(kernel.op))
    kernel.notes.push_back("where tiles of different cores meet the chip has no order; here they come in order");
}

Status Lifter::indexed(const Statement& s) {
  if (imported_.kernels().size() >= kMaxKernels)
    return fail(s, "it is kernel " + std::to_string(kMaxKernels + 1) + ", expected at most " + std::to_string(kMaxKernels));
  Pair p;
  p.statement = &s;
  p.rows = s.attribute("coalesce") == "row";
  const bool scatters = s.opcode == Opcode::mscatter;
  const std::string& table = s.operands[scatters ? 2 : 0][0];
  p.indices = &tiles_.at(s.operands[1][0]);
  p.data = &tiles_.at(scatters ? s.operands[0][0] : s.opcode == Opcode::mgather ? s.operands[2][0] : s.result);
  if (const auto region = regions_.find(table); region != regions_.end()) {
    p.table = region->second;
  } else {
    p.table.memory = memory_by_name_.at(table);
    const Memory& memory = memories_[static_cast<size_t>(p.table.memory)];
    p.table.slots = {Slot{0, memory.rows}, Slot{0, memory.cols}};
    p.table.row_stride = memory.cols;
  }
  if (!p.indices->content) return fail(s, "nothing was put into %" + s.operands[1][0] + " before, expected a tload of indices");
  if (scatters && !p.data->content)
    return fail(s, "nothing was put into %" + s.operands[0][0] + " before, expected a tload or mgather");
  STREW_TRY(check_shapes(p));
  STREW_TRY(check_table(p));
  STREW_TRY(touch(s, p.table.memory, scatters));
  return scatters ? scatter(p) : gather(p);
}

/// Requires that the loops move the index tile together with the rows of the data.
Status Lifter::check_indices(const Pair& p, const Cover& indices, const Slot& data, const Span& data_cover) {
  const Statement& s = *p.statement;
  const size_t along = p.rows ? list_dim(*p.indices) : 0;
  const Content& content = *p.indices->content;
  const bool fixed = !p.rows || (indices.spans[1 - along].loops.empty() && indices.spans[1 - along].extent.is(1));
  if (fixed && alike(content.slots[along], indices.spans[along], data, data_cover)) return {};
  return fail(s, "the index tile and the data move apart, expected the same rows of both in every round");
}

/// The indices of all tiles as one value. They are u32, except where a maximum with 0 (pto.tmaxs) was applied to
/// them: then they are signed, and the policy must be clamp, whose lower end is that maximum.
Expected<ShapedValue> Lifter::index_list(const Pair& p, const Cover& indices, const std::vector<Poly>& list,
                                         std::string_view oob) {
  const Statement& s = *p.statement;
  const Content& content = *p.indices->content;
  const std::string where = build_.location(s.at, "indices as u32");
  STREW_ASSIGN(const ShapedValue raw, covered_value(s, content, indices));
  STREW_ASSIGN(const ShapedValue values, build_.reshaped(raw, list, where));
  if (!content.floored) return build_.as_u32(values, p.indices->type.element.dtype, where);
  if (oob == "clamp") return values;
  return fail(s, "indices that pto.tmaxs brings up to 0 meet " + (oob.empty() ? "no mode" : std::string(oob)) +
                     ", expected clamp: an op brings up both ends or none");
}

Status Lifter::scatter(const Pair& p) {
  const Statement& s = *p.statement;
  STREW_ASSIGN(Cover data, covered_content(s, *p.data, "%" + s.operands[0][0]));
  STREW_ASSIGN(Cover indices, covered_content(s, *p.indices, "%" + s.operands[1][0], true));
  STREW_ASSIGN(Cover table, covered(s, p.table.slots, "the table"));
  STREW_TRY(fit(s, p.table.memory, table));
  const Content &data_content = *p.data->content, &index_content = *p.indices->content;
  STREW_TRY(check_indices(p, indices, data_content.slots[0], data.spans[0]));
  if (!p.rows && !alike(index_content.slots[1], indices.spans[1], data_content.slots[1], data.spans[1]))
    return fail(s, "the index tile and the data move apart in columns, expected the same in every round");
  if (!table.spans[0].loops.empty() || (!p.rows && !table.spans[1].loops.empty()))
    return fail(s, "the table moves from tile to tile, expected one table");
  if (p.rows && !alike(p.table.slots[1], table.spans[1], data_content.slots[1], data.spans[1]))
    return fail(s, "columns of the table and of the data move apart, expected the same in every round");
  STREW_TRY(check_loops(s, data, true));
  STREW_TRY(check_order(p, data));

  const Poly rows = data.spans[0].extent, cols = data.spans[1].extent;
  const std::vector<Poly> list = p.rows ? std::vector<Poly>{rows} : std::vector<Poly>{rows, cols};
  STREW_ASSIGN(const ShapedValue index_values, index_list(p, indices, list, s.attribute("scatterOob")));
  STREW_ASSIGN(const ShapedValue covered_data, covered_value(s, data_content, data));
  STREW_ASSIGN(const ShapedValue updates, build_.reshaped(covered_data, {rows, cols}, build_.location(s.at, "updates")));
  STREW_ASSIGN(const ShapedValue part, table_part(p, table));
  Scatter op;
  op.operands = op.results = {table_type(p, part)};
  op.indices = type_of(p.indices->content->floored ? DType::i32 : DType::u32, list);
  op.updates = {type_of(op.operands[0].dtype, updates.dims)};
  if (p.rows) op.dims.window_dims = {1};
  op.dims.removed_dims = op.dims.index_map = {0};
  op.dims.index_vector_dim = static_cast<int64_t>(list.size());
  op.combiner = combiner_of(s.attribute("scatterAtomicOp"));
  op.init = InitKind::in_place;
  op.oob = scatter_policy(s.attribute("scatterOob"));
  STREW_ASSIGN(const int updated, add_kernel(s, std::move(op), {part.value, index_values.value, updates.value}, data));
  return put(s, p.table.memory, table, {updated, part.dims});
}

Status Lifter::gather(const Pair& p) {
  const Statement& s = *p.statement;
  STREW_ASSIGN(Cover indices, covered_content(s, *p.indices, "%" + s.operands[1][0], true));
  STREW_ASSIGN(Cover table, covered(s, p.table.slots, "the table"));
  STREW_TRY(fit(s, p.table.memory, table));
  if (!table.spans[0].loops.empty() || (!p.rows && !table.spans[1].loops.empty()))
    return fail(s, "the table moves from tile to tile, expected one table");
  const Content& content = *p.indices->content;
  const size_t along = p.rows ? list_dim(*p.indices) : 0;
  if (p.rows && (!indices.spans[1 - along].loops.empty() || !indices.spans[1 - along].extent.is(1)))
    return fail(s, "the index tile moves across its list, expected along it");
  Cover result;
  result.spans = {indices.spans[along], p.rows ? table.spans[1] : indices.spans[1]};
  STREW_TRY(check_loops(s, result, false));

  const Poly rows = result.spans[0].extent, cols = result.spans[1].extent;
  const std::vector<Poly> list = p.rows ? std::vector<Poly>{rows} : std::vector<Poly>{rows, cols};
  STREW_ASSIGN(const ShapedValue index_values, index_list(p, indices, list, s.attribute("gatherOob")));
  STREW_ASSIGN(const ShapedValue part, table_part(p, table));
  Gather op;
  op.operand = table_type(p, part);
  op.indices = type_of(p.indices->content->floored ? DType::i32 : DType::u32, list);
  op.result = type_of(op.operand.dtype, {rows, cols});
  if (p.rows) op.dims.window_dims = {1};
  op.dims.removed_dims = op.dims.index_map = {0};
  op.dims.index_vector_dim = static_cast<int64_t>(list.size());
  op.slice_sizes = {1};
  if (p.rows) op.slice_sizes.push_back(op.operand.dims[1]);
  op.oob = gather_policy(s.attribute("gatherOob"), p.rows);
  const bool fills = op.oob == OobPolicy::fill_window || op.oob == OobPolicy::fill_element;
  op.fill = fills ? Scalar{op.operand.dtype} : Scalar{};
  STREW_ASSIGN(const int gathered, add_kernel(s, std::move(op), {part.value, index_values.value}, result));
  Content out;
  out.from = ShapedValue{gathered, {rows, cols}};
  const Slot& columns = p.rows ? p.table.slots[1] : content.slots[1];
  out.slots[0] = {scalars_.subtract(content.slots[along].offset, result.spans[0].begin), content.slots[along].size};
  out.slots[1] = {scalars_.subtract(columns.offset, result.spans[1].begin), columns.size};
  p.data->content = std::move(out);
  return {};
}

}  // namespace strew::inline v0::pto
