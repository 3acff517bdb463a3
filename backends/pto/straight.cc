// write_straight(): programs in PTO-AS, whose grammar has neither loops nor arithmetic on numbers, as a straight line of whole
// tiles. This covers ops for which the modes of the chip's instructions suffice, without index code: one index
// component that selects rows; policies undefined, skip and fill of 0; clamp and wrap of unsigned indices, because the
// chip reads indices as u32. Up to kMostTiles tiles are written one after another; for more tiles the program is one
// tile's step with the argument `.arg %row0`. All other ops are planned as for the other outputs and then unrolled
// (unroll.cc). Tested by tests/golden/pto_program_test.cc and tests/error/pto_program_error_test.cc.
#include <fmt/format.h>

#include "backends/pto/combine.h"
#include "backends/pto/forms.h"
#include "backends/pto/names.h"
#include "compiler/pto/types.h"
#include "compiler/pto/verify.h"

namespace strew::inline v0::pto {
namespace {

constexpr int64_t kMostTiles = 32, kIndexUnit = 8;

Type memref(Element element, int64_t rows, int64_t cols) { return {TypeKind::memref, element, {rows, cols}, {}}; }

class StraightLine {
 public:
  StraightLine(Frame& frame, const RowWalk& walk, Combine combine)
      : frame_(frame), plan_(frame.plan), walk_(walk), combine_(std::move(combine)) {}

  Status run();

 private:
  Status check() const;
  Expected<std::string> oob() const;
  void tile(const std::string& row, int64_t first, int64_t rows, const std::string& number);
  std::string position(int64_t first);
  static std::vector<std::string> place(const std::string& at, bool along_cols) {
    return along_cols ? std::vector<std::string>{"c0", at} : std::vector<std::string>{at, "c0"};
  }
  /// Is the number of rows known only at the call? The program is then one tile's step, which the caller repeats.
  bool is_one_step() const {
    return !walk_.axis.extent.is_static() && frame_.extent(frame_.table(0)).is_static() &&
           (walk_.elements || walk_.window.empty());
  }
  int64_t words() const { return walk_.width * frame_.words(frame_.table(0)).count; }
  Type data_type(int64_t rows) const {
    const Element element = frame_.words(frame_.table(0)).element;
    return walk_.elements ? make_tile(element, 1, rows) : make_tile(element, rows, words());
  }
  int64_t tile_bytes(int64_t rows) const {
    const Type type = data_type(rows);
    return type.dims[0] * type.dims[1] * bits(type.element.dtype) / 8 + rows * 4;
  }

  Frame& frame_;
  const Plan& plan_;
  const RowWalk& walk_;
  Combine combine_;
  std::string oob_;
  Function function_;
};

Status StraightLine::check() const {
  if (plan_.pairs != 1 || !walk_.slab || !walk_.outer.empty())
    return unsupported("pto-as: row numbers need arithmetic, which the grammar does not have; pto-ir would work");
  if (!plan_.symbols.empty() && !is_one_step())
    return unsupported(
        "pto-as: extents beside the number of rows are known at the call only, expected numbers: the grammar has "
        "tiles and tables of one shape; pto-ir would work");
  if (frame_.scatter() && plan_.init_kind != InitKind::in_place)
    return unsupported(
        fmt::format("pto-as: init is {}, which needs a loop, expected in_place; pto-ir would work", name(plan_.init_kind)));
  if (combine_.way == CombineWay::compute ||
      (!combine_.any_order && combine_.way == CombineWay::atomic && frame_.chip == Chip::a5))
    return unsupported(
        "pto-as: updates are combined one after the other, expected assign or an atomic whose order does not matter; order "
        "relaxed or unique_indices would allow it");
  if (frame_.words(index_of(plan_).tensor).count > 1 || index_of(plan_).normalize_negative ||
      !walk_.axis.strides[static_cast<size_t>(index_of(plan_).tensor)].is(1))
    return unsupported("pto-as: indices need arithmetic, expected i32 or u32 side by side and not negative; pto-ir would work");
  if (frame_.options.index_column && (frame_.chip == Chip::a3 || walk_.elements))
    return unsupported(
        fmt::format("pto-as: index layout column: {}, expected layout row",
                    walk_.elements ? "elements have an index tile as wide as theirs" : "a3's header takes rows only"));
  const int64_t rows = is_one_step() ? kIndexUnit : walk_.axis.extent.factor;
  const int64_t line = (walk_.elements ? rows : words()) * bits(frame_.words(frame_.table(0)).element.dtype) / 8;
  if (rows % kIndexUnit != 0 || line % 32 != 0)
    return unsupported(
        fmt::format("pto-as: {} rows of {} bytes, expected multiples of 8 rows and 32 bytes: its tiles have no "
                    "partial ones; pto-ir would work",
                    rows, line));
  return {};
}

Expected<std::string> StraightLine::oob() const {
  const std::optional<std::string> mode = own_mode(plan_);
  if (mode) return *mode;
  if (plan_.primary().oob == OobPolicy::error)
    return unsupported("pto-as: policy error needs a check of every index first; pto-ir has one");
  return unsupported(fmt::format("pto-as: policy {} of signed indices needs arithmetic, expected u32 indices; pto-ir would work",
                                 name(plan_.primary().oob)));
}

/// The name of a constant, which is written if it is new.
std::string StraightLine::position(int64_t first) {
  const std::string name = constant_name(first);
  if (std::ranges::none_of(function_.body, [&](const Statement& s) { return s.result == name; }))
    function_.body.push_back({.opcode = Opcode::constant, .result = name, .type = make_index(), .value = first});
  return name;
}

/// One tile, at row `row0` or, if that is empty, at row `first`. `number` is the suffix of its values' names.
void StraightLine::tile(const std::string& row0, int64_t first, int64_t rows, const std::string& number) {
  position(0);
  const std::string at = row0.empty() ? position(first) : row0;
  const std::string table = frame_.pointer(frame_.table(0)), index = "index" + number;
  const bool column = frame_.options.index_column, scatters = frame_.scatter();
  const auto load = [&](const std::string& result, const std::string& memory, bool along_cols, Type type) {
    function_.body.push_back(
        {.opcode = Opcode::load_tile, .result = result, .type = std::move(type), .operands = {{memory}, place(at, along_cols)}});
  };
  Type type = column ? make_tile({DType::i32, false}, rows, 1) : make_tile({DType::i32, false}, 1, rows);
  if (column) type.tile.blayout = "col_major";  // what a tile of one column is
  load(index, "indices", !column, std::move(type));
  if (scatters) load("update" + number, "updates", walk_.elements, data_type(rows));
  Statement move{.opcode = Opcode::mscatter, .operands = {{"update" + number}, {index}, {table}}};
  if (!scatters)
    move = {.opcode = Opcode::gather_tile, .result = "row" + number, .type = data_type(rows), .operands = {{table}, {index}}};
  move.attributes = {{"coalesce", walk_.elements ? "elem" : "row"}};
  if (combine_.way == CombineWay::atomic) move.attributes.push_back({"scatterAtomicOp", combine_.atomic});
  if (oob_ != "undefined") move.attributes.push_back({scatters ? "scatterOob" : "gatherOob", oob_});
  function_.body.push_back(std::move(move));
  if (!scatters)
    function_.body.push_back(
        {.opcode = Opcode::store_tile, .operands = {{"row" + number}, {"result"}, place(at, walk_.elements)}});
}

Status StraightLine::run() {
  STREW_TRY(check());
  STREW_ASSIGN(oob_, oob());
  const bool open = is_one_step();
  const int64_t count = open ? kDynamic : walk_.axis.extent.factor, safe = safe_buffer_bytes(frame_.chip);
  if (open) std::erase_if(frame_.program.arguments, [](const ProgramArgument& a) { return a.role == ArgumentRole::scalar; });
  const Element element = frame_.words(frame_.table(0)).element;
  for (const ProgramArgument& a : frame_.program.arguments) {
    const bool table = a.name == frame_.pointer(frame_.table(0));
    const int64_t total = frame_.extent(frame_.table(0)).factor / walk_.width;
    if (a.role == ArgumentRole::indices) {
      const bool column = frame_.options.index_column;
      function_.arguments.push_back({a.name, memref({DType::i32, false}, column ? count : 1, column ? 1 : count), {}});
    } else if (walk_.elements) {
      function_.arguments.push_back({a.name, memref(element, 1, table ? total : count), {}});
    } else {
      function_.arguments.push_back({a.name, memref(element, table ? total : count, words()), {}});
    }
  }
  const int64_t most = 256;
  int64_t rows = open ? most : std::min(count, most), tiles = 1;
  const auto divides = [&](int64_t height) { return open || count % height == 0; };
  while (rows > kIndexUnit && (tile_bytes(rows) > safe / 2 || !divides(rows))) rows -= kIndexUnit;
  if (tile_bytes(rows) > safe || !divides(rows))
    return unsupported("pto-as: tiles of " + std::to_string(rows) + " rows, which do not fit the buffer; pto-ir would work");
  tiles = open ? 1 : count / rows;
  const bool whole = !open && tiles <= kMostTiles && tiles * tile_bytes(rows) <= safe;
  if (whole) {
    for (int64_t t = 0; t < tiles; ++t) tile("", t * rows, rows, tiles == 1 ? "" : std::to_string(t));
  } else {
    frame_.program.arguments.push_back({.name = "row0", .role = ArgumentRole::scalar, .dtype = DType::i32});
    function_.arguments.push_back({"row0", make_index(), {}});
    tile("row0", 0, rows, "");
    frame_.program.requirements.push_back(fmt::format("it is run once per tile, in order: row0 = 0, {}, {}, .. below {}", rows,
                                                      2 * rows, open ? "the number of rows" : std::to_string(count)));
    if (open)
      frame_.program.requirements.push_back(
          fmt::format("the number of rows is a multiple of {}: the text has whole tiles only", rows));
  }
  TileProgram& p = frame_.program;
  p.module.spelling = Spelling::as;
  p.module.functions.push_back(std::move(function_));
  p.tiles = {
      walk_.elements ? "elem" : "row", CoreSplit::single, walk_.elements ? 1 : rows, walk_.elements ? rows : words(), "nd", 1};
  const int64_t data = tile_bytes(rows) - rows * 4, moved = whole ? tiles : 1;
  p.cost = {(frame_.scatter() ? tile_bytes(rows) : rows * 4) * moved, frame_.scatter() ? 0 : data * moved, data * moved,
            3 * moved, tile_bytes(rows) * moved};
  p.ub_bytes = p.cost.ub_peak;
  return {};
}

}  // namespace

Status write_straight(Frame& frame) {
  if (has_zero(frame.plan.positions) || has_zero(frame.plan.window))
    return unsupported("pto-as: an extent is 0 and there is nothing to write; pto-ir would work");
  STREW_ASSIGN(const RowWalk walk, row_walk(frame, int64_t{1} << 13));
  STREW_ASSIGN(Combine combine, start_combine(frame, true));
  return StraightLine(frame, walk, std::move(combine)).run();
}

}  // namespace strew::inline v0::pto
