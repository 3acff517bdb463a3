// See verify.h. These are the rules of the chips' headers. ptoas accepts more (max and min on a3, a misspelt
// attribute), but then the headers do not compile, or the program does not do what its text seems to say. The element
// types are in the instruction table (instructions.cc).
//
// The rows of a tile (the columns of a column-major tile) are multiples of 32 bytes. Rules about values at run time are
// checked by the importer of `.pto` files and by the simulator. Tested by tests/error/pto_error_test.cc and
// tests/error/pto_rules_test.cc.
#include "compiler/pto/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "base/checked.h"
#include "base/number.h"
#include "base/partial_switch.h"
#include "compiler/pto/instructions.h"
#include "compiler/pto/parser.h"
#include "compiler/pto/types.h"

namespace strew::inline v0::pto {
namespace {

constexpr int64_t kTileAlignment = 32, kFractalRows = 16, kL1Bytes = 512 * 1024;
constexpr DType kNamed[] = {DType::i8,  DType::u8,  DType::i16,  DType::u16, DType::i32,      DType::u32,    DType::i64,
                            DType::u64, DType::f16, DType::bf16, DType::f32, DType::f8e4m3fn, DType::f8e5m2, DType::hif8};

class Verifier {
 public:
  Verifier(const Module& module, const Rules& rules) : module_(module), rules_(rules) {}

  Status run() {
    for (const Function& f : module_.functions) {
      known_.clear();
      buffer_ = l1_ = 0;
      cube_ = f.kernel_kind == "cube";
      for (const Argument& a : f.arguments) {
        known_[a.name] = {&a.type, nullptr};
        if (a.type.kind == TypeKind::tile) STREW_TRY(check_tile(a.type, a.at, ".arg"));
      }
      STREW_TRY(check_body(f.body));
    }
    return {};
  }

 private:
  struct Known {
    const Type* type = nullptr;
    const Statement* statement = nullptr;
  };

  template <class... Args>
  static Status fail(const Statement& s, fmt::format_string<Args...> message, Args&&... args) {
    return error_at(s.at, fmt::format("{}: {}", name(s.opcode), fmt::format(message, std::forward<Args>(args)...)));
  }
  std::string_view chip() const { return name(module_.chip); }
  bool allowed(const Legality& legality, DType dtype) const { return allows(legality, module_.chip, rules_.reader, dtype); }
  const Type& type_of(const std::string& value) const { return *known_.at(value).type; }
  std::optional<int64_t> constant(const std::string& value) const {
    const Statement* s = known_.at(value).statement;
    return s != nullptr && s->opcode == Opcode::constant ? std::optional(s->value) : std::nullopt;
  }

  Status check_body(const std::vector<Statement>& body) {
    for (const Statement& s : body) {
      if (!s.result.empty()) known_[s.result] = {&s.type, &s};
      if (s.type.kind == TypeKind::tile) STREW_TRY(check_tile(s.type, s.at, std::string(name(s.opcode))));
      STREW_TRY(check_statement(s));
      STREW_TRY(check_body(s.body));
      STREW_TRY(check_body(s.otherwise));
    }
    return {};
  }

  STREW_PARTIAL_SWITCHES

  Status check_statement(const Statement& s) {
    const Instruction& row = info(s.opcode);
    const auto type = [&](size_t group) -> const Type& { return type_of(s.operands[group][0]); };
    switch (s.opcode) {
      case Opcode::constant:
        return check_constant(s);
      case Opcode::alloc_tile:
        return rules_.emitted ? check_place(s) : Status();
      case Opcode::mscatter:
      case Opcode::mgather: {
        const size_t data = s.opcode == Opcode::mscatter ? 0 : 2;
        STREW_TRY(check_modes(s));
        STREW_TRY(check_table(s, type(data), s.operands[2 - data][0]));
        return check_tiles(s, type(data), type(1));
      }
      case Opcode::gather_tile:
        return check_tiles(s, s.type, type(1));
      case Opcode::gather_l1:
      case Opcode::gather_l1_elem:
        STREW_TRY(check_modes(s));
        return check_gather_l1(s, type(0), type(1), type(2));
      case Opcode::move_l1:
        return check_move_l1(s, type(0), type(1));
      case Opcode::tstore:
        STREW_TRY(check_element(s, type(0).element));
        return check_store(s, type(0));
      case Opcode::tcvt:
        STREW_TRY(check_computes(s, row));
        return check_conversion(s, type(0).element, type(1).element);
      default:
        break;
    }
    if (row.form == Form::computes) return check_computes(s, row);
    if (row.form == Form::flags && rules_.emitted) return check_flag(s);
    return row.legality != nullptr ? check_element(s, type(0).element) : Status();
  }

  STREW_END_PARTIAL_SWITCHES

  /// ptoas writes an infinity as `+Inf.0f`, which is not C++.
  Status check_constant(const Statement& s) {
    const DType dtype = s.type.element.dtype;
    if (s.type.kind != TypeKind::scalar || !is_float(dtype) || rules_.reader != Reader::ptoas) return {};
    if (std::isfinite(decode(dtype, static_cast<uint64_t>(s.value)))) return {};
    return fail(s, "the value is no finite number, expected one for ptoas, or arith.bitcast of its bits");
  }

  Status check_element(const Statement& s, const Element& element) {
    const Legality& legality = *info(s.opcode).legality;
    if (allowed(legality, element.dtype)) return {};
    return fail(s, "elements are {}, expected {}", print(element), types_text(legality, element.dtype));
  }

  /// The types that are allowed, for a message on `dtype`, which is not.
  std::string types_text(const Legality& legality, DType dtype) const {
    const std::string types = named([&](DType each) { return allowed(legality, each); });
    const bool as_cpp = allows(legality, module_.chip, Reader::headers, dtype);
    return fmt::format("{}{} on {}{}", types.empty() ? "none" : "one of ", types, chip(),
                       as_cpp ? " through ptoas; as C++ the chip takes it" : "");
  }
  template <class Is>
  static std::string named(Is is) {
    std::string out;
    for (const DType dtype : kNamed)
      if (is(dtype)) out += (out.empty() ? "" : ", ") + print(Element{dtype, false});
    return out;
  }

  Status check_modes(const Statement& s) {
    if (s.attribute("coalesce").empty())
      return fail(s, "coalesce is missing, expected row or elem: chips and simulators differ in what they take without it");
    const std::string_view conflict = s.attribute("scatterConflict");
    if (!conflict.empty() && module_.chip == Chip::a3) return fail(s, "scatterConflict is {}, expected none on a3", conflict);
    const std::string_view atomic = s.attribute("scatterAtomicOp");
    const bool combines = !atomic.empty() && atomic != "none", scatters = s.opcode == Opcode::mscatter;
    if (conflict == "last" && combines)
      return fail(s, "scatterConflict is last beside scatterAtomicOp {}, expected one of both: an atomic has no last", atomic);
    if (!rules_.emitted) return {};
    const char* const oob = scatters ? "scatterOob" : "gatherOob";
    if (s.attribute(oob).empty()) return fail(s, "{} is missing, expected every mode to be spelled out", oob);
    if (scatters && module_.chip == Chip::a5 && conflict.empty() && !combines)
      return fail(s,
                  "scatterConflict is missing, expected last or default: left out, a5 takes last, which visits every slot of the "
                  "table");
    return {};
  }

  Status check_tile(const Type& tile, Position at, const std::string& statement) {
    const auto wrong = [&](const std::string& message) {
      return error_at(at, fmt::format("{}: the tile is {}{}", statement, print(tile), message));
    };
    const bool rows_major = tile.tile.blayout == "row_major" || in_fractals(tile);
    const int64_t most = in_l1(tile) ? kL1Bytes : buffer_bytes(module_.chip);
    const std::optional<int64_t> line = checked::mul(tile.dims[rows_major ? 1 : 0], bytes_of(tile)),
                                 bytes = line ? checked::mul(*line, tile.dims[rows_major ? 0 : 1]) : line;
    if (!bytes || *bytes > most) return wrong(fmt::format(", expected at most {} bytes on {}", most, chip()));
    if (*line % kTileAlignment == 0) return {};
    return wrong(
        fmt::format(" whose {} are {} bytes, expected a multiple of {}", rows_major ? "rows" : "columns", *line, kTileAlignment));
  }

  /// Checks a tile's address. Without addresses, checks the sum of the sizes of all tiles, which is an upper bound,
  /// because ptoas reuses memory.
  Status check_place(const Statement& s) {
    const int64_t bytes = s.type.dims[0] * s.type.dims[1] * bytes_of(s.type),
                  most = in_l1(s.type) ? kL1Bytes : safe_buffer_bytes(module_.chip);
    if (s.operands[0].empty()) {
      int64_t& taken = in_l1(s.type) ? l1_ : buffer_;
      taken += bytes;
      return taken <= most ? Status() : fail(s, "the tiles take {} bytes, expected at most {} on {}", taken, most, chip());
    }
    const std::optional<int64_t> address = constant(s.operands[0][0]);
    if (!address) return fail(s, "addr is not a constant, expected one");
    if (*address < 0 || *address % kTileAlignment != 0)
      return fail(s, "addr is {}, expected a multiple of {}", *address, kTileAlignment);
    if (*address <= most - bytes) return {};
    return fail(s, "the tile ends at byte {}, expected at most {} on {}", *address + bytes, most, chip());
  }

  /// Checks that the rows of a table are as wide as the tile; a5 also takes this width for the distance of the rows.
  Status check_table(const Statement& s, const Type& tile, const std::string& table) {
    const bool fractals = layout_of(table) == "nz";
    if (fractals != in_fractals(tile))
      return fail(s, "the table is {}in fractals (layout nz) and the tile is {}, expected both or neither",
                  fractals ? "" : "not ", print(tile));
    const Type& type = type_of(table);
    if (fractals) return check_fractal_table(s, tile, type);
    if (!rules_.emitted || s.attribute("coalesce") != "row") return {};
    STREW_TRY(check_columns(s, type.dims.back(), tile));
    const int64_t valid = tile.tile.valid[1];
    const Statement* const view = view_of(table);
    if (view == nullptr || module_.chip != Chip::a5 || type.dims.size() < 2 || valid == kDynamic) return {};
    const std::optional<int64_t> stride = constant(view->operands[2][type.dims.size() - 2]);
    if (!stride || *stride == valid) return {};
    return fail(s,
                "rows of the table are {} apart and the tile has {} columns, expected as much: a5 takes the tile's width for the "
                "distance",
                *stride, valid);
  }

  static Status check_fractal_table(const Statement& s, const Type& tile, const Type& table) {
    const std::vector<int64_t>& dims = table.dims;
    const int64_t each = kTileAlignment / bytes_of(tile);
    if (dims.size() != 5 || dims[3] != kFractalRows || dims[4] != each)
      return fail(s, "the table is {}, expected five dims, the last two 16 and {}", print(table), each);
    return check_columns(s, dims[0] == kDynamic || dims[1] == kDynamic ? kDynamic : dims[0] * dims[1] * each, tile);
  }

  static Status check_columns(const Statement& s, int64_t columns, const Type& tile) {
    if (same(columns, tile.tile.valid[1])) return {};
    return fail(s, "the table has {} columns and the tile {}, expected as many", columns, tile.tile.valid[1]);
  }
  /// Are two extents the same, as far as is known?
  static bool same(int64_t a, int64_t b) { return a == b || a == kDynamic || b == kDynamic; }

  static Status check_indices(const Statement& s, const Type& indices) {
    if (indices.element.dtype == DType::i32 || indices.element.dtype == DType::u32) return {};
    return fail(s, "indices are {}, expected i32 or ui32", print(indices.element));
  }

  Status check_tiles(const Statement& s, const Type& data, const Type& indices) {
    STREW_TRY(check_element(s, data.element));
    const std::string_view atomic = s.attribute("scatterAtomicOp");
    if (!atomic.empty() && atomic != "none" && !allowed(atomic_legality(atomic), data.element.dtype))
      return fail(s, "scatterAtomicOp is {} on elements of {}, expected {}", atomic, print(data.element),
                  atomics(atomic, data.element.dtype));
    STREW_TRY(check_indices(s, indices));
    STREW_TRY(in_fractals(data) ? check_fractals(s, data) : check_layout(s, data, "the data tile", false));
    return check_layout(s, indices, "the index tile", s.attribute("coalesce") == "row" && module_.chip != Chip::a3);
  }

  static bool in_fractals(const Type& tile) { return tile.tile.blayout == "col_major" && tile.tile.slayout == "row_major"; }

  /// Checks a data tile in fractals of 16 rows of 32 bytes. a3's headers have such tiles for tables in fractals; ptoas
  /// does not.
  Status check_fractals(const Statement& s, const Type& tile) {
    if (module_.chip != Chip::a3) return fail(s, "the data tile is in fractals, expected rows: {} has no tables in them", chip());
    if (rules_.reader == Reader::ptoas)
      return fail(s,
                  "the data tile is in fractals, expected rows: ptoas takes tables of layout nd only; as C++ the chip takes it");
    if (tile.tile.location == "vec" && has_whole_fractals(tile)) return {};
    return fail(s, "the data tile is {}, expected vec, fractal 512, a multiple of 16 rows and of 32 bytes", print(tile));
  }
  static bool has_whole_fractals(const Type& tile) {
    return tile.tile.fractal == 512 && tile.dims[0] % kFractalRows == 0 && tile.dims[1] * bytes_of(tile) % kTileAlignment == 0;
  }
  static int64_t bytes_of(const Type& tile) { return bits(tile.element.dtype) / 8; }

  /// The view of which `table` is a partition; null if it is none.
  const Statement* view_of(const std::string& table) const {
    const Statement* partition = known_.at(table).statement;
    return partition == nullptr ? nullptr : known_.at(partition->operands[0][0]).statement;
  }
  /// The layout of the memory of a partition.
  std::string_view layout_of(const std::string& table) const {
    const Statement* view = view_of(table);
    return view == nullptr ? "" : view->attribute("layout");
  }

  std::string atomics(std::string_view atomic, DType dtype) const {
    const Legality& legality = atomic_legality(atomic);
    const bool is_none = named([&](DType each) { return allowed(legality, each); }).empty();
    return is_none ? fmt::format("{} to have no {}", chip(), atomic) : types_text(legality, dtype);
  }

  static bool in_l1(const Type& tile) { return tile.tile.location == "mat"; }

  /// Checks a gather of rows or elements into L1: the tile is in fractals, and the cube core reads the indices from
  /// memory.
  Status check_gather_l1(const Statement& s, const Type& table, const Type& indices, const Type& tile) {
    STREW_TRY(check_element(s, tile.element));
    if (!in_l1(tile)) return fail(s, "the data tile is in {}, expected mat: indices in memory are for L1", tile.tile.location);
    if (!in_fractals(tile) || !has_whole_fractals(tile))
      return fail(s, "the data tile is {}, expected fractals of 512: a multiple of 16 rows and of 32 bytes", print(tile));
    STREW_TRY(check_indices(s, indices));
    for (const size_t group : {0, 1})
      if (layout_of(s.operands[group][0]) == "nz")
        return fail(s, "%{} is in fractals, expected rows: only the tile is", s.operands[group][0]);
    const bool by_row = s.attribute("coalesce") == "row";
    if (by_row != (s.opcode == Opcode::gather_l1))
      return fail(s, "coalesce is {}, expected scratch memory beside elem, and none beside row", by_row ? "row" : "elem");
    return rules_.emitted && by_row ? check_columns(s, table.dims.back(), tile) : Status();
  }

  /// Checks the move of a tile from L1 to the vector core, which a5's cube core needs because it cannot store. It
  /// exists in C++ only.
  Status check_move_l1(const Statement& s, const Type& from, const Type& to) {
    if (module_.chip == Chip::a3)
      return fail(s, "it is from mat to {}, expected a tstore of the tile: a3 has one", to.tile.location);
    if (rules_.reader == Reader::ptoas)
      return fail(s, "it is from mat to {}, which ptoas does not take; as C++ the chip does", to.tile.location);
    if (to.tile.location == "vec" && in_fractals(to) && to.dims == from.dims) return {};
    return fail(s, "%{} is {}, expected the shape and fractals of {} in vec", s.operands[1][0], print(to), print(from));
  }

  /// Checks a store from L1: only a3 has one, and only to memory in fractals. ptoas takes a view in fractals for one in
  /// rows, which the header refuses.
  Status check_store(const Statement& s, const Type& tile) {
    if (!in_l1(tile)) return {};
    if (module_.chip == Chip::a5)
      return fail(s, "the tile is in mat, expected vec or acc on a5: its cube core has no way to memory");
    if (rules_.reader == Reader::ptoas)
      return fail(s, "the tile is in mat, expected vec: ptoas takes memory in fractals for rows; as C++ the chip takes it");
    if (layout_of(s.operands[1][0]) == "nz" && in_fractals(tile)) return {};
    return fail(s, "the tile is {}, expected fractals, and memory of layout nz", print(tile));
  }

  static Status check_layout(const Statement& s, const Type& tile, const char* what, bool column) {
    const TileLayout& t = tile.tile;
    if (t.location != "vec") return fail(s, "{} is in {}, expected vec", what, t.location);
    if (t.slayout != "none_box") return fail(s, "{} has slayout {}, expected none_box", what, t.slayout);
    if (t.blayout == "row_major" || (column && tile.dims[1] == 1)) return {};
    return fail(s, "{} is col_major, expected row_major{}", what, column ? ", or one column" : "");
  }

  /// Checks tile arithmetic: the element types of the instruction's row, and row-major tiles of one valid shape in the
  /// vector buffer.
  Status check_computes(const Statement& s, const Instruction& row) {
    const Type* shape = nullptr;
    for (size_t g = 0; g < row.operands.size(); ++g) {
      const Kind kind = row.operands[g].kind;
      if (kind == Kind::number) continue;
      const Type& tile = type_of(s.operands[g][0]);
      STREW_TRY(check_layout(s, tile, "a tile", false));
      const Element& element = tile.element;
      if (kind == Kind::mask && element.dtype != DType::i8 && element.dtype != DType::u8)
        return fail(s, "the mask has elements of {}, expected i8: a bit per element", print(element));
      if (kind == Kind::scratch && s.opcode == Opcode::tsel && module_.chip != Chip::a5 && bits(element.dtype) != 32)
        return fail(s, "the scratch tile has elements of {}, expected 32 bits on {}", print(element), chip());
      if (kind == Kind::mask || kind == Kind::scratch) continue;
      if (kind == Kind::tile) STREW_TRY(check_element(s, element));
      if (shape == nullptr) shape = &tile;
      if (!std::equal(shape->tile.valid.begin(), shape->tile.valid.end(), tile.tile.valid.begin(), same))
        return fail(s, "%{} is {}, expected the valid extents of {}", s.operands[g][0], print(tile), print(*shape));
    }
    if (s.opcode == Opcode::tci && shape != nullptr && shape->dims[0] != 1)
      return fail(s, "the tile has {} rows, expected 1: only the first is written", shape->dims[0]);
    return {};
  }

  Status check_conversion(const Statement& s, const Element& from, const Element& to) {
    if (converts(module_.chip, from.dtype, to.dtype)) return {};
    const std::string known = named([&](DType each) { return converts(module_.chip, from.dtype, each); });
    return fail(s, "it is from {} to {}, expected {} on {}", print(from), print(to), known.empty() ? "another tile" : known,
                chip());
  }

  Status check_flag(const Statement& s) const {
    for (const char* which : {"src_pipe", "dst_pipe"}) {
      const Pipe pipe = pipe_from_name(s.attribute(which));
      if (pipe == Pipe::none || pipe == Pipe::all || (pipe == Pipe::mte1 && !cube_))
        return fail(s, "{} is {}, expected a pipe of a vector kernel: PIPE_S, PIPE_V, PIPE_MTE2 or PIPE_MTE3", which,
                    s.attribute(which));
    }
    if (s.attribute("src_pipe") != s.attribute("dst_pipe")) return {};
    return fail(s, "both pipes are {}, expected two, or a barrier", s.attribute("src_pipe"));
  }

  const Module& module_;
  const Rules rules_;
  std::unordered_map<std::string, Known> known_;
  int64_t buffer_ = 0, l1_ = 0;
  bool cube_ = false;  ///< the function starts on cube cores
};

}  // namespace

int64_t l1_bytes() { return kL1Bytes; }
int64_t buffer_bytes(Chip chip) { return chip == Chip::a3 ? 192 * 1024 : 248 * 1024; }
int64_t safe_buffer_bytes(Chip chip) { return chip == Chip::a3 ? 192 * 1024 : 128 * 1024; }

Status verify(const Module& module, const Rules& rules) { return Verifier(module, rules).run(); }

}  // namespace strew::inline v0::pto
