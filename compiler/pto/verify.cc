// See verify.h. These are the rules of the chips' headers. ptoas accepts more (max and min on a3, a misspelt
// attribute), but then the headers do not compile, or the program does not do what its text seems to say. The element
// types are in the instruction table (instructions.cc).
//
// The rows of a tile (the columns of a column-major tile) are multiples of 32 bytes. Rules about values at run time are
// checked by the importer of `.pto` files and by the simulator. Tested by tests/error/pto_error_test.cc and
// tests/error/pto_rules_test.cc.
#include "compiler/pto/verify.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

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

  static Status fail(const Statement& s, const std::string& message) {
    return error_at(s.at, std::string(name(s.opcode)) + ": " + message);
  }
  std::string chip() const { return std::string(name(module_.chip)); }
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
    switch (s.opcode) {
      case Opcode::constant:
        return check_constant(s);
      case Opcode::alloc_tile:
        return rules_.emitted ? check_place(s) : Status();
      case Opcode::mscatter:
        STREW_TRY(check_modes(s));
        STREW_TRY(check_table(s, type_of(s.operands[0][0]), s.operands[2][0]));
        return check_tiles(s, type_of(s.operands[0][0]), type_of(s.operands[1][0]));
      case Opcode::mgather:
        STREW_TRY(check_modes(s));
        STREW_TRY(check_table(s, type_of(s.operands[2][0]), s.operands[0][0]));
        return check_tiles(s, type_of(s.operands[2][0]), type_of(s.operands[1][0]));
      case Opcode::gather_tile:
        return check_tiles(s, s.type, type_of(s.operands[1][0]));
      case Opcode::gather_l1:
      case Opcode::gather_l1_elem:
        STREW_TRY(check_modes(s));
        return check_gather_l1(s);
      case Opcode::move_l1:
        return check_move_l1(s);
      case Opcode::tstore:
        STREW_TRY(check_element(s, row, type_of(s.operands[0][0]).element));
        return check_store(s);
      case Opcode::tcvt:
        STREW_TRY(check_computes(s, row));
        return check_conversion(s);
      default:
        break;
    }
    if (row.form == Form::computes) return check_computes(s, row);
    if (row.form == Form::flags && rules_.emitted) return check_flag(s);
    if (row.legality != nullptr) return check_element(s, row, type_of(s.operands[0][0]).element);
    return {};
  }

  STREW_END_PARTIAL_SWITCHES

  /// ptoas writes an infinity as `+Inf.0f`, which is not C++.
  Status check_constant(const Statement& s) {
    const DType dtype = s.type.element.dtype;
    if (s.type.kind != TypeKind::scalar || !is_float(dtype) || rules_.reader != Reader::ptoas) return {};
    if (std::isfinite(decode(dtype, static_cast<uint64_t>(s.value)))) return {};
    return fail(s, "the value is no finite number, expected one for ptoas, or arith.bitcast of its bits");
  }

  Status check_element(const Statement& s, const Instruction& row, const Element& element) {
    if (allowed(*row.legality, element.dtype)) return {};
    const bool only_ptoas = allows(*row.legality, module_.chip, Reader::headers, element.dtype);
    return fail(s, "elements are " + print(element) + ", expected " + types_text(*row.legality) + " on " + chip() +
                       (only_ptoas ? " through ptoas; as C++ the chip takes it" : ""));
  }

  std::string types_text(const Legality& legality) const {
    std::string out;
    for (const DType dtype : kNamed)
      if (allowed(legality, dtype)) out += (out.empty() ? "" : ", ") + print(Element{dtype, false});
    return out.empty() ? "none" : "one of " + out;
  }

  Status check_modes(const Statement& s) {
    if (s.attribute("coalesce").empty())
      return fail(s, "coalesce is missing, expected row or elem: chips and simulators differ in what they take without it");
    const std::string_view conflict = s.attribute("scatterConflict");
    if (!conflict.empty() && module_.chip == Chip::a3)
      return fail(s, "scatterConflict is " + std::string(conflict) + ", expected none on a3");
    const std::string_view atomic = s.attribute("scatterAtomicOp");
    const bool combines = !atomic.empty() && atomic != "none";
    if (conflict == "last" && combines)
      return fail(s, "scatterConflict is last beside scatterAtomicOp " + std::string(atomic) +
                         ", expected one of both: an atomic has no last");
    if (!rules_.emitted) return {};
    const bool scatters = s.opcode == Opcode::mscatter;
    if (s.attribute(scatters ? "scatterOob" : "gatherOob").empty())
      return fail(s, std::string(scatters ? "scatterOob" : "gatherOob") + " is missing, expected every mode to be spelled out");
    if (scatters && module_.chip == Chip::a5 && conflict.empty() && !combines)
      return fail(s,
                  "scatterConflict is missing, expected last or default: left out, a5 takes last, which visits every slot of the "
                  "table");
    return {};
  }

  Status check_tile(const Type& tile, Position at, const std::string& statement) {
    const auto wrong = [&](const std::string& message) { return error_at(at, statement + ": " + message); };
    const bool rows_major = tile.tile.blayout == "row_major" || in_fractals(tile);
    const int64_t along = rows_major ? tile.dims[1] : tile.dims[0], width = bits(tile.element.dtype) / 8;
    int64_t line = 0, bytes = 0;
    const int64_t most = in_l1(tile) ? kL1Bytes : buffer_bytes(module_.chip);
    if (__builtin_mul_overflow(along, width, &line) ||
        __builtin_mul_overflow(line, rows_major ? tile.dims[0] : tile.dims[1], &bytes) || bytes > most)
      return wrong("the tile is " + print(tile) + ", expected at most " + std::to_string(most) + " bytes on " + chip());
    if (line % kTileAlignment != 0)
      return wrong("the tile is " + print(tile) + " whose " + (rows_major ? "rows" : "columns") + " are " + std::to_string(line) +
                   " bytes, expected a multiple of " + std::to_string(kTileAlignment));
    return {};
  }

  /// Checks a tile's address. Without addresses, checks the sum of the sizes of all tiles, which is an upper bound,
  /// because ptoas reuses memory.
  Status check_place(const Statement& s) {
    const int64_t bytes = s.type.dims[0] * s.type.dims[1] * (bits(s.type.element.dtype) / 8),
                  most = in_l1(s.type) ? kL1Bytes : safe_buffer_bytes(module_.chip);
    int64_t& taken = in_l1(s.type) ? l1_ : buffer_;
    const std::string room = ", expected at most " + std::to_string(most) + " on " + chip();
    if (s.operands[0].empty()) {
      taken += bytes;
      if (taken > most) return fail(s, "the tiles take " + std::to_string(taken) + " bytes" + room);
      return {};
    }
    const std::optional<int64_t> address = constant(s.operands[0][0]);
    if (!address) return fail(s, "addr is not a constant, expected one");
    if (*address < 0 || *address % kTileAlignment != 0)
      return fail(s, "addr is " + std::to_string(*address) + ", expected a multiple of " + std::to_string(kTileAlignment));
    if (*address > most - bytes) return fail(s, "the tile ends at byte " + std::to_string(*address + bytes) + room);
    return {};
  }

  /// Checks that the rows of a table are as wide as the tile; a5 also takes this width for the distance of the rows.
  Status check_table(const Statement& s, const Type& tile, const std::string& table) {
    const bool fractals = layout_of(table) == "nz";
    if (fractals != in_fractals(tile))
      return fail(s, std::string("the table is ") + (fractals ? "" : "not ") + "in fractals (layout nz) and the tile is " +
                         print(tile) + ", expected both or neither");
    if (fractals) return check_fractal_table(s, tile, type_of(table));
    if (!rules_.emitted || s.attribute("coalesce") != "row") return {};
    const Type& type = type_of(table);
    const int64_t columns = type.dims.back(), valid = tile.tile.valid_cols;
    if (columns != kDynamic && valid != kDynamic && columns != valid)
      return fail(s, "the table has " + std::to_string(columns) + " columns and the tile " + std::to_string(valid) +
                         ", expected as many");
    const Statement* partition = known_.at(table).statement;
    const Statement* view = partition == nullptr ? nullptr : known_.at(partition->operands[0][0]).statement;
    if (view == nullptr || module_.chip != Chip::a5 || type.dims.size() < 2 || valid == kDynamic) return {};
    const std::optional<int64_t> stride = constant(view->operands[2][type.dims.size() - 2]);
    if (!stride || *stride == valid) return {};
    return fail(s, "rows of the table are " + std::to_string(*stride) + " apart and the tile has " + std::to_string(valid) +
                       " columns, expected as much: a5 takes the tile's width for the distance");
  }

  static Status check_fractal_table(const Statement& s, const Type& tile, const Type& table) {
    const int64_t each = kTileAlignment / (bits(tile.element.dtype) / 8);
    const bool shaped = table.dims.size() == 5 && table.dims[3] == kFractalRows && table.dims[4] == each;
    if (!shaped)
      return fail(s, "the table is " + print(table) + ", expected five dims, the last two 16 and " + std::to_string(each));
    const int64_t cols = table.dims[0] == kDynamic || table.dims[1] == kDynamic ? kDynamic : table.dims[0] * table.dims[1] * each;
    if (cols == kDynamic || tile.tile.valid_cols == kDynamic || cols == tile.tile.valid_cols) return {};
    return fail(s, "the table has " + std::to_string(cols) + " columns and the tile " + std::to_string(tile.tile.valid_cols) +
                       ", expected as many");
  }

  Status check_tiles(const Statement& s, const Type& data, const Type& indices) {
    const DType dtype = data.element.dtype;
    STREW_TRY(check_element(s, info(s.opcode), data.element));
    const std::string atomic(s.attribute("scatterAtomicOp"));
    if (!atomic.empty() && atomic != "none" && !allowed(atomic_legality(atomic), dtype))
      return fail(
          s, "scatterAtomicOp is " + atomic + " on elements of " + print(data.element) + ", expected " + atomics(atomic, dtype));
    if (indices.element.dtype != DType::i32 && indices.element.dtype != DType::u32)
      return fail(s, "indices are " + print(indices.element) + ", expected i32 or ui32");
    if (in_fractals(data)) {
      STREW_TRY(check_fractals(s, data));
    } else {
      STREW_TRY(check_layout(s, data, "the data tile", false));
    }
    return check_layout(s, indices, "the index tile", s.attribute("coalesce") == "row" && module_.chip != Chip::a3);
  }

  static bool in_fractals(const Type& tile) { return tile.tile.blayout == "col_major" && tile.tile.slayout == "row_major"; }

  /// Checks a data tile in fractals of 16 rows of 32 bytes. a3's headers have such tiles for tables in fractals; ptoas
  /// does not.
  Status check_fractals(const Statement& s, const Type& tile) {
    const int64_t size = bits(tile.element.dtype) / 8;
    if (module_.chip != Chip::a3)
      return fail(s, "the data tile is in fractals, expected rows: " + chip() + " has no tables in them");
    if (rules_.reader == Reader::ptoas)
      return fail(s,
                  "the data tile is in fractals, expected rows: ptoas takes tables of layout nd only; as C++ the chip takes it");
    if (tile.tile.location == "vec" && tile.tile.fractal == 512 && tile.dims[0] % kFractalRows == 0 &&
        tile.dims[1] * size % kTileAlignment == 0)
      return {};
    return fail(s, "the data tile is " + print(tile) + ", expected vec, fractal 512, a multiple of 16 rows and of 32 bytes");
  }

  /// The layout of the memory of a partition.
  std::string_view layout_of(const std::string& table) const {
    const Statement* partition = known_.at(table).statement;
    const Statement* view = partition == nullptr ? nullptr : known_.at(partition->operands[0][0]).statement;
    return view == nullptr ? "" : view->attribute("layout");
  }

  std::string atomics(const std::string& atomic, DType dtype) const {
    const Legality& legality = atomic_legality(atomic);
    const std::string types = types_text(legality);
    if (types == "none") return chip() + " to have no " + atomic;
    const bool as_cpp = allows(legality, module_.chip, Reader::headers, dtype);
    return types + " on " + chip() + (as_cpp ? " through ptoas; as C++ the chip takes it" : "");
  }

  static bool in_l1(const Type& tile) { return tile.tile.location == "mat"; }

  /// Checks a gather of rows or elements into L1: the tile is in fractals, and the cube core reads the indices from
  /// memory.
  Status check_gather_l1(const Statement& s) {
    const Type &tile = type_of(s.operands[2][0]), &table = type_of(s.operands[0][0]), &indices = type_of(s.operands[1][0]);
    STREW_TRY(check_element(s, info(s.opcode), tile.element));
    if (!in_l1(tile))
      return fail(s, "the data tile is in " + tile.tile.location + ", expected mat: indices in memory are for L1");
    const int64_t size = bits(tile.element.dtype) / 8;
    if (!in_fractals(tile) || tile.tile.fractal != 512 || tile.dims[0] % kFractalRows != 0 ||
        tile.dims[1] * size % kTileAlignment != 0)
      return fail(s, "the data tile is " + print(tile) + ", expected fractals of 512: a multiple of 16 rows and of 32 bytes");
    if (indices.element.dtype != DType::i32 && indices.element.dtype != DType::u32)
      return fail(s, "indices are " + print(indices.element) + ", expected i32 or ui32");
    for (const size_t group : {size_t{0}, size_t{1}})
      if (layout_of(s.operands[group][0]) == "nz")
        return fail(s, "%" + s.operands[group][0] + " is in fractals, expected rows: only the tile is");
    const bool by_row = s.attribute("coalesce") == "row";
    if (by_row != (s.opcode == Opcode::gather_l1))
      return fail(s, std::string("coalesce is ") + (by_row ? "row" : "elem") +
                         ", expected scratch memory beside elem, and none beside row");
    const int64_t columns = table.dims.back(), valid = tile.tile.valid_cols;
    if (!rules_.emitted || !by_row || columns == kDynamic || valid == kDynamic || columns == valid) return {};
    return fail(
        s, "the table has " + std::to_string(columns) + " columns and the tile " + std::to_string(valid) + ", expected as many");
  }

  /// Checks the move of a tile from L1 to the vector core, which a5's cube core needs because it cannot store. It
  /// exists in C++ only.
  Status check_move_l1(const Statement& s) {
    const Type &from = type_of(s.operands[0][0]), &to = type_of(s.operands[1][0]);
    if (module_.chip == Chip::a3)
      return fail(s, "it is from mat to " + to.tile.location + ", expected a tstore of the tile: a3 has one");
    if (rules_.reader == Reader::ptoas)
      return fail(s, "it is from mat to " + to.tile.location + ", which ptoas does not take; as C++ the chip does");
    if (to.tile.location == "vec" && in_fractals(to) && to.dims == from.dims) return {};
    return fail(s,
                "%" + s.operands[1][0] + " is " + print(to) + ", expected the shape and fractals of " + print(from) + " in vec");
  }

  /// Checks a store from L1: only a3 has one, and only to memory in fractals. ptoas takes a view in fractals for one in
  /// rows, which the header refuses.
  Status check_store(const Statement& s) {
    const Type& tile = type_of(s.operands[0][0]);
    if (!in_l1(tile)) return {};
    if (module_.chip == Chip::a5)
      return fail(s, "the tile is in mat, expected vec or acc on a5: its cube core has no way to memory");
    if (rules_.reader == Reader::ptoas)
      return fail(s, "the tile is in mat, expected vec: ptoas takes memory in fractals for rows; as C++ the chip takes it");
    if (layout_of(s.operands[1][0]) == "nz" && in_fractals(tile)) return {};
    return fail(s, "the tile is " + print(tile) + ", expected fractals, and memory of layout nz");
  }

  static Status check_layout(const Statement& s, const Type& tile, const char* what, bool column) {
    const TileLayout& t = tile.tile;
    if (t.location != "vec") return fail(s, std::string(what) + " is in " + t.location + ", expected vec");
    if (t.slayout != "none_box") return fail(s, std::string(what) + " has slayout " + t.slayout + ", expected none_box");
    if (t.blayout == "row_major" || (column && tile.dims[1] == 1)) return {};
    return fail(s, std::string(what) + " is col_major, expected row_major" + (column ? ", or one column" : ""));
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
      if (kind == Kind::mask) {
        if (tile.element.dtype != DType::i8 && tile.element.dtype != DType::u8)
          return fail(s, "the mask has elements of " + print(tile.element) + ", expected i8: a bit per element");
        continue;
      }
      if (kind == Kind::scratch) {
        if (s.opcode == Opcode::tsel && module_.chip != Chip::a5 && bits(tile.element.dtype) != 32)
          return fail(s, "the scratch tile has elements of " + print(tile.element) + ", expected 32 bits on " + chip());
        continue;
      }
      if (kind == Kind::tile) STREW_TRY(check_element(s, row, tile.element));
      if (shape == nullptr) shape = &tile;
      const auto same = [](int64_t a, int64_t b) { return a == b || a == kDynamic || b == kDynamic; };
      if (!same(shape->tile.valid_rows, tile.tile.valid_rows) || !same(shape->tile.valid_cols, tile.tile.valid_cols))
        return fail(s, "%" + s.operands[g][0] + " is " + print(tile) + ", expected the valid extents of " + print(*shape));
    }
    if (s.opcode == Opcode::tci && shape != nullptr && shape->dims[0] != 1)
      return fail(s, "the tile has " + std::to_string(shape->dims[0]) + " rows, expected 1: only the first is written");
    return {};
  }

  Status check_conversion(const Statement& s) {
    const Element &from = type_of(s.operands[0][0]).element, &to = type_of(s.operands[1][0]).element;
    if (converts(module_.chip, from.dtype, to.dtype)) return {};
    std::string known;
    for (const DType dtype : kNamed)
      if (converts(module_.chip, from.dtype, dtype)) known += (known.empty() ? "" : ", ") + print(Element{dtype, false});
    return fail(s, "it is from " + print(from) + " to " + print(to) + ", expected " + (known.empty() ? "another tile" : known) +
                       " on " + chip());
  }

  Status check_flag(const Statement& s) const {
    for (const char* which : {"src_pipe", "dst_pipe"}) {
      const Pipe pipe = pipe_from_name(s.attribute(which));
      if (pipe == Pipe::none || pipe == Pipe::all || (pipe == Pipe::mte1 && !cube_))
        return fail(s, std::string(which) + " is " + std::string(s.attribute(which)) +
                           ", expected a pipe of a vector kernel: PIPE_S, PIPE_V, PIPE_MTE2 or PIPE_MTE3");
    }
    if (s.attribute("src_pipe") != s.attribute("dst_pipe")) return {};
    return fail(s, "both pipes are " + std::string(s.attribute("src_pipe")) + ", expected two, or a barrier");
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
