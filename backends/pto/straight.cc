// See straight.h. This covers ops for which the modes of the chip's instructions suffice, without index code: one index
// component that selects rows; policies undefined, skip and fill of 0; clamp and wrap of unsigned indices, because the
// chip reads indices as u32. Up to kMostTiles tiles are written one after another; for more tiles the program is one
// tile's step with the argument `.arg %row0`. All other ops are planned as for the other outputs and then unrolled
// (unroll.h). Tested by tests/golden/pto_program_test.cc and tests/error/pto_program_error_test.cc.
#include "backends/pto/straight.h"

#include "backends/pto/combine.h"
#include "backends/pto/walk.h"
#include "compiler/pto/types.h"
#include "compiler/pto/verify.h"

namespace strew::inline v0::pto {
namespace {

constexpr int64_t kMostTiles = 32, kIndexUnit = 8;

Type memref(Element element, int64_t rows, int64_t cols) {
  Type type;
  type.kind = TypeKind::memref;
  type.element = element;
  type.dims = {rows, cols};
  return type;
}

class StraightLine {
 public:
  StraightLine(Frame& frame, const RowWalk& walk, Combine combine)
      : frame_(frame), plan_(frame.plan), walk_(walk), combine_(std::move(combine)) {}

  Status run();

 private:
  Status check() const;
  Expected<std::string> oob() const;
  void tile(const std::string& row, int64_t first, int64_t rows, const std::string& number);
  std::string position(const std::string& row, int64_t first);
  Statement load(const std::string& result, const std::string& memory, const std::string& row, bool along_cols, Type type) const;
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
    return unsupported("pto-as: init is " + std::string(name(plan_.init_kind)) +
                       ", which needs a loop, expected in_place; pto-ir would work");
  if (combine_.way == CombineWay::compute ||
      (!combine_.any_order && combine_.way == CombineWay::atomic && frame_.chip == Chip::a5))
    return unsupported(
        "pto-as: updates are combined one after the other, expected assign or an atomic whose order does not matter; " +
        std::string("order relaxed or unique_indices would allow it"));
  if (frame_.words(index_of(plan_).tensor).count > 1 || index_of(plan_).normalize_negative ||
      !walk_.axis.strides[static_cast<size_t>(index_of(plan_).tensor)].is(1))
    return unsupported("pto-as: indices need arithmetic, expected i32 or u32 side by side and not negative; pto-ir would work");
  if (frame_.options.index_column && (frame_.chip == Chip::a3 || walk_.elements))
    return unsupported(std::string("pto-as: index layout column: ") +
                       (walk_.elements ? "elements have an index tile as wide as theirs" : "a3's header takes rows only") +
                       ", expected layout row");
  const int64_t rows = is_one_step() ? kIndexUnit : walk_.axis.extent.factor;
  const int64_t line = walk_.elements ? rows * bits(frame_.words(frame_.table(0)).element.dtype) / 8
                                      : words() * bits(frame_.words(frame_.table(0)).element.dtype) / 8;
  if (rows % kIndexUnit != 0 || line % 32 != 0)
    return unsupported("pto-as: " + std::to_string(rows) + " rows of " + std::to_string(line) +
                       " bytes, expected multiples of 8 rows and 32 bytes: its tiles have no partial ones; pto-ir would work");
  return {};
}

Expected<std::string> StraightLine::oob() const {
  const std::optional<std::string> mode = own_mode(plan_);
  if (mode) return *mode;
  if (plan_.primary().oob == OobPolicy::error)
    return unsupported("pto-as: policy error needs a check of every index first; pto-ir has one");
  return unsupported("pto-as: policy " + std::string(name(plan_.primary().oob)) +
                     " of signed indices needs arithmetic, expected u32 indices; pto-ir would work");
}

std::string StraightLine::position(const std::string& row, int64_t first) {
  if (!row.empty()) return row;
  const std::string name = "c" + std::to_string(first);
  for (const Statement& s : function_.body)
    if (s.result == name) return name;
  Statement s;
  s.opcode = Opcode::constant;
  s.result = name;
  s.type = make_index();
  s.value = first;
  function_.body.push_back(std::move(s));
  return name;
}

Statement StraightLine::load(const std::string& result, const std::string& memory, const std::string& row, bool along_cols,
                             Type type) const {
  Statement s;
  s.opcode = Opcode::load_tile;
  s.result = result;
  s.type = std::move(type);
  s.operands = {{memory}, along_cols ? std::vector<std::string>{"c0", row} : std::vector<std::string>{row, "c0"}};
  return s;
}

void StraightLine::tile(const std::string& row, int64_t first, int64_t rows, const std::string& number) {
  position("", 0);
  const std::string at = position(row, first);
  const std::string table = frame_.pointer(frame_.table(0));
  Type index = frame_.options.index_column ? make_tile({DType::i32, false}, rows, 1) : make_tile({DType::i32, false}, 1, rows);
  if (frame_.options.index_column) index.tile.blayout = "col_major";  // what a tile of one column is
  function_.body.push_back(load("index" + number, "indices", at, !frame_.options.index_column, std::move(index)));
  const std::string mode = walk_.elements ? "elem" : "row";
  if (frame_.scatter()) {
    function_.body.push_back(load("update" + number, "updates", at, walk_.elements, data_type(rows)));
    Statement s;
    s.opcode = Opcode::mscatter;
    s.operands = {{"update" + number}, {"index" + number}, {table}};
    s.attributes = {{"coalesce", mode}};
    if (combine_.way == CombineWay::atomic) s.attributes.push_back({"scatterAtomicOp", combine_.atomic});
    if (oob_ != "undefined") s.attributes.push_back({"scatterOob", oob_});
    function_.body.push_back(std::move(s));
    return;
  }
  Statement s;
  s.opcode = Opcode::gather_tile;
  s.result = "row" + number;
  s.type = data_type(rows);
  s.operands = {{table}, {"index" + number}};
  s.attributes = {{"coalesce", mode}};
  if (oob_ != "undefined") s.attributes.push_back({"gatherOob", oob_});
  function_.body.push_back(std::move(s));
  Statement store;
  store.opcode = Opcode::store_tile;
  store.operands = {
      {"row" + number}, {"result"}, walk_.elements ? std::vector<std::string>{"c0", at} : std::vector<std::string>{at, "c0"}};
  function_.body.push_back(std::move(store));
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
    ProgramArgument row0;
    row0.name = "row0";
    row0.role = ArgumentRole::scalar;
    row0.dtype = DType::i32;
    frame_.program.arguments.push_back(std::move(row0));
    function_.arguments.push_back({"row0", make_index(), {}});
    tile("row0", 0, rows, "");
    frame_.program.requirements.push_back("it is run once per tile, in order: row0 = 0, " + std::to_string(rows) + ", " +
                                          std::to_string(2 * rows) + ", .. below " +
                                          (open ? "the number of rows" : std::to_string(count)));
    if (open)
      frame_.program.requirements.push_back("the number of rows is a multiple of " + std::to_string(rows) +
                                            ": the text has whole tiles only");
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
  for (const std::vector<Loop>* loops : {&frame.plan.positions, &frame.plan.window})
    for (const Loop& loop : *loops)
      if (loop.extent.is(0)) return unsupported("pto-as: an extent is 0 and there is nothing to write; pto-ir would work");
  STREW_ASSIGN(const RowWalk walk, row_walk(frame, int64_t{1} << 13));
  STREW_ASSIGN(Combine combine, choose_combine(frame));
  STREW_TRY(check_computes(frame, combine));
  return StraightLine(frame, walk, std::move(combine)).run();
}

}  // namespace strew::inline v0::pto
