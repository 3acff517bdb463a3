// The chips' own rules, as their headers have them: where ptoas lets more through (max and min on a3, a misspelt attribute), the headers
// do not compile or the text does not mean what it seems to.
//
// Elements: both chips move 8, 16 and 32 bit integers, f16, bf16 and f32, a5 the 8-bit floats too. Tiles lie in the vector buffer,
// whose rows (columns, where they are column-major) are multiples of 32 bytes. What a tile holds at run time is the importer's.
// Tested by tests/error/pto_error_test.cc.
#include "compiler/pto/verify.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/pto/instructions.h"
#include "compiler/pto/parser.h"
#include "compiler/pto/types.h"

namespace strew::pto {
namespace {

enum Allowed : uint8_t { kNone = 0, kA3 = 1, kA5 = 2, kBoth = 3 };
struct ElementRule {
  DType dtype;
  uint8_t move, add, extremes;
};
constexpr ElementRule kElements[] = {
    {DType::i8, kBoth, kA3, kNone},    {DType::u8, kBoth, kNone, kNone},     {DType::i16, kBoth, kA3, kNone},
    {DType::u16, kBoth, kNone, kNone}, {DType::i32, kBoth, kBoth, kA5},      {DType::u32, kBoth, kA5, kA5},
    {DType::f16, kBoth, kBoth, kNone}, {DType::bf16, kBoth, kBoth, kNone},   {DType::f32, kBoth, kBoth, kA5},
    {DType::hif8, kA5, kNone, kNone},  {DType::f8e4m3fn, kA5, kNone, kNone}, {DType::f8e5m2, kA5, kNone, kNone},
};

bool allows(uint8_t allowed, Chip chip) {
  const uint8_t wanted = chip == Chip::a3 ? kA3 : chip == Chip::a5 ? kA5 : kBoth;
  return (allowed & wanted) != 0;
}

const ElementRule* rule_of(DType dtype) {
  for (const ElementRule& rule : kElements)
    if (rule.dtype == dtype) return &rule;
  return nullptr;
}

constexpr int64_t kTileAlignment = 32;

class Verifier {
 public:
  explicit Verifier(const Module& module) : module_(module) {}

  Status run() {
    for (const Function& f : module_.functions) {
      types_.clear();
      for (const Argument& a : f.arguments) {
        types_[a.name] = &a.type;
        if (a.type.kind == TypeKind::tile) STREW_TRY(check_tile(a.type, a.at, ".arg"));
      }
      STREW_TRY(check_body(f.body));
    }
    return {};
  }

 private:
  static Status fail(const Statement& s, const std::string& message) {
    return error_at(s.at, std::string(name(s.opcode)) + ": " + message);
  }
  std::string chip() const { return std::string(name(module_.chip)); }

  Status check_body(const std::vector<Statement>& body) {
    for (const Statement& s : body) {
      if (!s.result.empty()) types_[s.result] = &s.type;
      if (s.type.kind == TypeKind::tile) STREW_TRY(check_tile(s.type, s.at, std::string(name(s.opcode))));
      STREW_TRY(check_statement(s));
      STREW_TRY(check_body(s.body));
    }
    return {};
  }

  Status check_statement(const Statement& s) {
    switch (s.opcode) {
      case Opcode::mscatter:
        STREW_TRY(check_modes(s));
        return check_tiles(s, *types_.at(s.operands[0][0]), *types_.at(s.operands[1][0]));
      case Opcode::mgather:
        STREW_TRY(check_modes(s));
        return check_tiles(s, *types_.at(s.operands[2][0]), *types_.at(s.operands[1][0]));
      case Opcode::gather_tile:
        return check_tiles(s, s.type, *types_.at(s.operands[1][0]));
      default:
        return {};
    }
  }

  Status check_modes(const Statement& s) {
    if (s.attribute("coalesce").empty())
      return fail(s, "coalesce is missing, expected row or elem: chips and simulators differ in what they take without it");
    const std::string_view conflict = s.attribute("scatterConflict");
    if (!conflict.empty() && module_.chip == Chip::a3)
      return fail(s, "scatterConflict is " + std::string(conflict) + ", expected none on a3");
    const std::string_view atomic = s.attribute("scatterAtomicOp");
    if (conflict == "last" && !atomic.empty() && atomic != "none")
      return fail(s, "scatterConflict is last beside scatterAtomicOp " + std::string(atomic) +
                         ", expected one of both: an atomic has no last");
    return {};
  }

  Status check_tile(const Type& tile, Position at, const std::string& statement) {
    const auto wrong = [&](const std::string& message) { return error_at(at, statement + ": " + message); };
    const bool rows_major = tile.tile.blayout == "row_major";
    const int64_t along = rows_major ? tile.dims[1] : tile.dims[0], width = bits(tile.element.dtype) / 8;
    int64_t line = 0, bytes = 0;
    if (__builtin_mul_overflow(along, width, &line) ||
        __builtin_mul_overflow(line, rows_major ? tile.dims[0] : tile.dims[1], &bytes) || bytes > buffer_bytes(module_.chip))
      return wrong("the tile is " + print(tile) + ", expected at most " + std::to_string(buffer_bytes(module_.chip)) +
                   " bytes on " + chip());
    if (line % kTileAlignment != 0)
      return wrong("the tile is " + print(tile) + " whose " + (rows_major ? "rows" : "columns") + " are " + std::to_string(line) +
                   " bytes, expected a multiple of " + std::to_string(kTileAlignment));
    return {};
  }

  Status check_tiles(const Statement& s, const Type& data, const Type& indices) {
    const DType dtype = data.element.dtype;
    if (!moves(module_.chip, dtype))
      return fail(s, "elements are " + print(data.element) + ", expected what " + chip() +
                         " moves: 8, 16 or 32 bit integers, f16, bf16, f32" +
                         (module_.chip == Chip::a3 ? "" : ", f8E4M3FN, f8E5M2, hif8"));
    const std::string atomic(s.attribute("scatterAtomicOp"));
    if (!combines(module_.chip, atomic, dtype))
      return fail(s, "scatterAtomicOp is " + atomic + " on elements of " + print(data.element) + ", expected " + atomics(atomic));
    if (indices.element.dtype != DType::i32 && indices.element.dtype != DType::u32)
      return fail(s, "indices are " + print(indices.element) + ", expected i32 or ui32");
    STREW_TRY(check_layout(s, data, "the data tile", false));
    return check_layout(s, indices, "the index tile", s.attribute("coalesce") == "row" && module_.chip != Chip::a3);
  }

  std::string atomics(const std::string& atomic) const {
    std::string out;
    for (const ElementRule& rule : kElements)
      if (combines(module_.chip, atomic, rule.dtype)) out += (out.empty() ? "" : ", ") + print(Element{rule.dtype, false});
    return out.empty() ? chip() + " to have no " + atomic : "one of " + out + " on " + chip();
  }

  static Status check_layout(const Statement& s, const Type& tile, const char* what, bool column) {
    const TileLayout& t = tile.tile;
    if (t.location != "vec") return fail(s, std::string(what) + " is in " + t.location + ", expected vec");
    if (t.slayout != "none_box") return fail(s, std::string(what) + " has slayout " + t.slayout + ", expected none_box");
    if (t.blayout == "row_major" || (column && tile.dims[1] == 1)) return {};
    return fail(s, std::string(what) + " is col_major, expected row_major" + (column ? ", or one column" : ""));
  }

  const Module& module_;
  std::unordered_map<std::string, const Type*> types_;
};

}  // namespace

bool moves(Chip chip, DType dtype) {
  const ElementRule* rule = rule_of(dtype);
  return rule != nullptr && allows(rule->move, chip);
}

bool combines(Chip chip, std::string_view atomic, DType dtype) {
  if (atomic.empty() || atomic == "none") return true;
  const ElementRule* rule = rule_of(dtype);
  return rule != nullptr && allows(atomic == "add" ? rule->add : rule->extremes, chip);
}

int64_t buffer_bytes(Chip chip) { return chip == Chip::a3 ? 192 * 1024 : 248 * 1024; }

Status verify(const Module& module) { return Verifier(module).run(); }

}  // namespace strew::pto
