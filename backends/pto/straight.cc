// write_straight(): programs in PTO-AS, whose grammar has neither loops nor arithmetic on numbers, as a straight line of whole
// tiles. This covers ops for which the modes of the chip's instructions suffice, without index code: one index
// component that selects rows; policies undefined, skip and fill of 0; clamp and wrap of unsigned indices, because the
// chip reads indices as u32. Up to kMostTiles tiles are written one after another; for more tiles the program is one
// tile's step with the argument `.arg %row0`. All other ops are planned as for the other outputs and then unrolled
// (unroll.cc). Tested by tests/golden/pto_program_test.cc and tests/error/pto_program_error_test.cc.
#include <fmt/format.h>

#include "backends/pto/combine.h"
#include "backends/pto/passes.h"
#include "backends/pto/walk.h"
#include "compiler/pto/types.h"
#include "compiler/pto/verify.h"

namespace strew::inline v0::pto {
namespace {

constexpr int64_t kMostTiles = 32, kMostTileRows = 256, kIndexUnit = 8;

class StraightLine {
 public:
  StraightLine(Frame& frame, const RowWalk& walk, const Combine& combine)
      : frame_(frame), plan_(frame.plan), walk_(walk), combine_(combine) {}

  /// False: the op has no such program.
  bool run() {
    const std::optional<std::string> mode = own_mode(plan_);
    if (!mode || !modes_suffice() || !has_whole_tiles()) return false;
    oob_ = *mode;
    const bool open = is_one_step();
    const int64_t count = open ? kDynamic : walk_.axis.extent.factor, safe = safe_buffer_bytes(frame_.chip);
    int64_t rows = open ? kMostTileRows : std::min(count, kMostTileRows);
    const auto divides = [&](int64_t height) { return open || count % height == 0; };
    while (rows > kIndexUnit && (tile_bytes(rows) > safe / 2 || !divides(rows))) rows -= kIndexUnit;
    if (tile_bytes(rows) > safe || !divides(rows)) return false;
    TileProgram& p = frame_.program;
    if (open) std::erase_if(p.arguments, [](const ProgramArgument& a) { return a.role == ArgumentRole::scalar; });
    for (const ProgramArgument& a : p.arguments) add_argument(a, count);
    const int64_t tiles = open ? 1 : count / rows;
    const bool whole = !open && tiles <= kMostTiles && tiles * tile_bytes(rows) <= safe;
    if (whole) {
      for (int64_t t = 0; t < tiles; ++t) tile("", t * rows, rows, tiles == 1 ? "" : std::to_string(t));
    } else {
      p.arguments.push_back({.name = "row0", .role = ArgumentRole::scalar, .dtype = DType::i32});
      function_.arguments.push_back({"row0", make_index(), {}});
      tile("row0", 0, rows, "");
      p.requirements.push_back(fmt::format("it is run once per tile, in order: row0 = 0, {}, {}, .. below {}", rows, 2 * rows,
                                           open ? "the number of rows" : std::to_string(count)));
      if (open)
        p.requirements.push_back(fmt::format("the number of rows is a multiple of {}: the text has whole tiles only", rows));
    }
    p.module.spelling = Spelling::as;
    p.module.functions.push_back(std::move(function_));
    const Type shape = data_type(rows);
    p.tiles = {coalesce(), CoreSplit::single, shape.dims[0], shape.dims[1], "nd", 1};
    const int64_t data = tile_bytes(rows) - rows * 4, moved = whole ? tiles : 1;
    const CoreCost core = {(frame_.scatter() ? tile_bytes(rows) : rows * 4) * moved,
                           frame_.scatter() ? 0 : data * moved,
                           data * moved,
                           3 * moved,
                           0,
                           moved};
    p.cost = {1, core, core, tile_bytes(rows) * moved};
    p.ub_bytes = p.cost.ub_peak;
    return true;
  }

 private:
  /// Is the number of rows known only at the call? The program is then one tile's step, which the caller repeats.
  bool is_one_step() const {
    return !walk_.axis.extent.is_static() && frame_.extent(frame_.table(0)).is_static() &&
           (walk_.elements || walk_.window.empty());
  }
  int64_t words() const { return walk_.width * frame_.words(frame_.table(0)).count; }
  Element element() const { return frame_.words(frame_.table(0)).element; }
  Type data_type(int64_t rows) const {
    return walk_.elements ? make_tile(element(), 1, rows) : make_tile(element(), rows, words());
  }
  int64_t tile_bytes(int64_t rows) const { return rows * (walk_.elements ? 1 : words()) * bits(element().dtype) / 8 + rows * 4; }
  const char* coalesce() const { return walk_.elements ? "elem" : "row"; }

  /// Can the instructions do it all, without arithmetic on indices, loops, or an order of updates that they do not keep?
  bool modes_suffice() const {
    const Component& index = index_of(plan_);
    const bool in_place = !frame_.scatter() || plan_.init_kind == InitKind::in_place;
    const bool in_any_order = combine_.any_order || combine_.way != CombineWay::atomic || frame_.chip != Chip::a5;
    const bool as_they_are = frame_.words(index.tensor).count == 1 && !index.normalize_negative &&
                             walk_.axis.strides[static_cast<size_t>(index.tensor)].is(1);
    // The modes judge indices by the extent of the memref, which is the whole table.
    const bool is_whole = frame_.extent(frame_.table(0)) == index.dim * constant(walk_.width);
    const bool converts = combine_.way == CombineWay::atomic && !same_types(plan_);
    return plan_.pairs == 1 && !converts && walk_.slab && walk_.outer.empty() && is_whole && in_place &&
           combine_.way != CombineWay::compute && in_any_order && as_they_are;
  }
  /// Are all extents but the number of rows known, and the tiles whole ones, in the wanted layout?
  bool has_whole_tiles() const {
    if (!plan_.symbols.empty() && !is_one_step()) return false;
    if (frame_.options.index_column && (frame_.chip == Chip::a3 || walk_.elements)) return false;
    const int64_t rows = is_one_step() ? kIndexUnit : walk_.axis.extent.factor;
    return rows % kIndexUnit == 0 && (walk_.elements ? rows : words()) * bits(element().dtype) / 8 % 32 == 0;
  }

  void add_argument(const ProgramArgument& a, int64_t count) {
    const bool indices = a.role == ArgumentRole::indices, table = a.name == frame_.pointer(frame_.table(0));
    const int64_t lines = table ? frame_.extent(frame_.table(0)).factor / walk_.width : count;
    const bool line = indices ? !frame_.options.index_column : walk_.elements;
    const Element its = indices ? Element{DType::i32, false} : element();
    const int64_t across = indices || walk_.elements ? 1 : words();
    const std::vector<int64_t> dims = {line ? across : lines, line ? lines : across};
    function_.arguments.push_back({a.name, {TypeKind::memref, its, dims, {}}, {}});
  }

  /// The name of a constant, which is written if it is new.
  std::string position(int64_t first) {
    const std::string name = constant_name(first);
    if (std::ranges::none_of(function_.body, [&](const Statement& s) { return s.result == name; }))
      function_.body.push_back({.opcode = Opcode::constant, .result = name, .type = make_index(), .value = first});
    return name;
  }

  /// One tile, at row `row0` or, if that is empty, at row `first`. `number` is the suffix of its values' names.
  void tile(const std::string& row0, int64_t first, int64_t rows, const std::string& number) {
    position(0);
    const std::string at = row0.empty() ? position(first) : row0;
    const std::string table = frame_.pointer(frame_.table(0)), index = "index" + number;
    const bool column = frame_.options.index_column, scatters = frame_.scatter();
    const auto place = [&](bool along_cols) {
      return along_cols ? std::vector<std::string>{"c0", at} : std::vector<std::string>{at, "c0"};
    };
    std::vector<Statement>& out = function_.body;
    Type type = column ? make_tile({DType::i32, false}, rows, 1) : make_tile({DType::i32, false}, 1, rows);
    if (column) type.tile.blayout = "col_major";  // what a tile of one column is
    out.push_back(
        {.opcode = Opcode::load_tile, .result = index, .type = std::move(type), .operands = {{"indices"}, place(!column)}});
    Statement data{.opcode = Opcode::load_tile, .result = "update" + number, .type = data_type(rows)};
    data.operands = {{"updates"}, place(walk_.elements)};
    Statement move{.opcode = Opcode::mscatter, .operands = {{data.result}, {index}, {table}}};
    if (!scatters)
      move = {.opcode = Opcode::gather_tile, .result = "row" + number, .type = data_type(rows), .operands = {{table}, {index}}};
    move.attributes = {{"coalesce", coalesce()}};
    if (combine_.way == CombineWay::atomic) move.attributes.push_back({"scatterAtomicOp", combine_.atomic});
    if (oob_ != "undefined") move.attributes.push_back({scatters ? "scatterOob" : "gatherOob", oob_});
    if (scatters) out.push_back(std::move(data));
    out.push_back(std::move(move));
    if (!scatters)
      out.push_back({.opcode = Opcode::store_tile, .operands = {{"row" + number}, {"result"}, place(walk_.elements)}});
  }

  Frame& frame_;
  const Plan& plan_;
  const RowWalk& walk_;
  const Combine& combine_;
  std::string oob_;
  Function function_;
};

}  // namespace

bool write_straight(Frame& frame) {
  if (frame.plan.sources.size() != 1 || frame.has_strides() || has_zero(frame.plan.positions) || has_zero(frame.plan.window))
    return false;
  const Expected<RowWalk> walk = row_walk(frame, int64_t{1} << 13);
  if (!walk.ok()) return false;
  const Expected<Combine> combine = start_combine(frame, true);
  return combine.ok() && StraightLine(frame, *walk, *combine).run();
}

}  // namespace strew::inline v0::pto
