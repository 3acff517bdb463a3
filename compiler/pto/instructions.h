// The instruction table: for each statement its spelling, its operands and attributes, the element types that each chip
// allows, the pipe that executes it there, and what it computes. Parsers, printers, verifier and simulator read this
// table. A new statement is an entry of Opcode (ast.h), a row at the same place, and an entry of Computation if it computes something new. Tested by
// tests/unit/compiler/pto/pto_text_test.cc and tests/error/pto_error_test.cc.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "compiler/pto/ast.h"
#include "strew/export.h"

namespace strew::inline v0::pto {

/// Classes of statements that are checked and executed alike. Those before `moves` give a result.
enum class Form : uint8_t {
  constant,
  cast,
  binary,
  compare,
  select,
  nullary,
  view,
  partition,
  alloc,
  get,   ///< an element of a tile
  load,  ///< an element of memory
  moves,
  computes,
  set,
  store,
  flags,
  barrier,
  section,
  loop,
  branch,
  as_only,  ///< a statement that only PTO-AS has
};

/// An attribute whose value is one of a list of words: `coalesce = #pto<coalesce row>`, or dotted: `layout =
/// #pto.layout<nd>`.
struct AttributeRule {
  std::string_view name;
  std::string_view family;
  bool dotted;
  std::span<const std::string_view> values;
  std::string_view cpp = {};  ///< what stands before a value in the chips' headers
  /// A value in the chips' headers: `pto::Coalesce::Row`, and `CmpMode::EQ` if they are not in namespace pto.
  STREW_API std::string in_cpp(std::string_view value) const;
};

/// What an operand group holds. All tiles and numbers of a statement have the same element type, except for the kinds
/// that say otherwise.
enum class Kind : uint8_t {
  scalar,     ///< index or an integer
  condition,  ///< i1
  index,
  address,  ///< i64
  pointer,
  view,
  partition,
  tile,
  number,   ///< a scalar of the tiles' element type
  indices,  ///< a tile of i32 or ui32
  mask,     ///< a tile of i8 with a bit per element, as tcmp leaves it
  scratch,  ///< a tile whose elements may be anything and are lost
  other,    ///< a tile of another element type
  memref,
  places,  ///< a partition of i32 or ui32: indices in memory
};
enum class Access : uint8_t { none, read, write };
struct Operand {
  Kind kind = Kind::scalar;
  Access access = Access::none;
};

/// The operand groups of a statement, from a text: "t<t<t>" is two tiles that are read and one that is written. Each group is a letter for its
/// kind: s scalar, c condition, i index, a address, p pointer, v view, r partition, t tile, n number, x indices, m mask, k scratch, o other,
/// f memref, l places (the order of Kind). `<` behind it: the statement reads what the operand holds; `>`: it writes it.
struct Operands {
  static constexpr std::string_view kLetters = "sciapvrtnxmkofl";
  Operand list[5];
  size_t count = 0;
  constexpr Operands(const char* text = "") {  // NOLINT(google-explicit-constructor): it is a literal of the table
    for (; *text != 0; ++text) {
      const Access access = *text == '<' ? Access::read : *text == '>' ? Access::write : Access::none;
      if (access == Access::none) list[count++].kind = static_cast<Kind>(kLetters.find(*text));
      list[count - 1].access = access;
    }
  }
  constexpr size_t size() const { return count; }
  constexpr const Operand& operator[](size_t group) const { return list[group]; }
};

/// The pipes of a core: units that execute instructions in parallel. `all` stands for all of them.
enum class Pipe : uint8_t { none, s, v, mte1, mte2, mte3, all };
STREW_API std::string_view name(Pipe pipe);            ///< "PIPE_MTE2"
STREW_API Pipe pipe_from_name(std::string_view name);  ///< none: the programs here do not have such a pipe
inline constexpr int kPipes = 5, kEvents = 8;          ///< the pipes s to mte3; the events EVENT_ID0 to EVENT_ID7

/// The computation of a statement: on scalars, or of a tile instruction on each element. Its arguments are the elements of the
/// tiles that are read and the numbers, in the order of the operands.
enum class Computation : uint8_t {
  none,
  add,
  sub,
  mul,
  div,
  ceil_div,
  remainder,
  max,
  min,
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
  negate,
  bit_not,
  move,
  convert,
  compare,
  select,
  fill,
  sequence,
};

/// A set of element types, one bit each.
using DTypes = uint64_t;
constexpr DTypes set_of(std::initializer_list<DType> dtypes) {
  DTypes out = 0;
  for (const DType d : dtypes) out |= DTypes{1} << static_cast<int>(d);
  return out;
}
/// The element types that an instruction allows: by the headers of each chip, and by ptoas 0.60 for each chip
/// (measured). A program for ptoas must satisfy both.
struct Legality {
  DTypes a3 = 0, a5 = 0, ptoas_a3 = 0, ptoas_a5 = 0;
};
/// Who reads a program: the chips' headers (it is C++), or ptoas and then the headers (it is PTO IR).
enum class Reader : uint8_t { headers, ptoas };
/// Is the element type allowed? Chip::any: on at least one chip.
STREW_API bool allows(const Legality& legality, Chip chip, Reader reader, DType dtype);

struct Instruction {
  Opcode opcode;
  std::string_view name;  ///< the statement's name in PTO IR
  Form form;
  Operands operands;      ///< one for each operand group
  std::string_view text;  ///< the template of its text behind the name, see text_piece.h
  std::span<const AttributeRule> attributes;
  /// Generic form: operandSegmentSizes, a character for each segment: its size, or `*` for any size. Empty: the
  /// statement has no such attribute.
  std::string_view segments;
  Pipe a3 = Pipe::none, a5 = Pipe::none;  ///< the pipe that executes it; none: it is not executed, or with the scalars
  const Legality* legality = nullptr;     ///< the element types that are allowed; null: all
  Computation compute = Computation::none;
  /// C++ of the call or of the value, a template: {0} is the operand of group 0, {number 0} and {tile 0} its type, {result} the
  /// type of the result, {cmpMode} the value of an attribute.
  std::string_view cpp = {};
  size_t groups() const { return operands.size(); }
};

STREW_API const Instruction& info(Opcode opcode);
/// Does the statement on scalars read its operands as numbers without sign?
inline bool reads_unsigned(const Statement& s) {
  return s.opcode == Opcode::cmpi ? s.attribute("predicate").starts_with('u') : info(s.opcode).name.ends_with("ui");
}
/// The row of a PTO IR name, or null. mgather and tmov have second rows for tiles in L1 (gather_l1, move_l1), which are
/// not found by name: the parser chooses them by the operands.
const Instruction* find_instruction(std::string_view name);
/// The template of a statement's text in PTO-AS.
std::string_view as_text(Opcode opcode);
/// "pto.mscatter"; for a statement that only PTO-AS has, "tload".
STREW_API std::string_view name(Opcode opcode);

/// The pipe that accesses operand group `group` of a statement on a chip. It is the same for all groups, except for
/// gathers whose indices the scalar unit reads: mgather on a3, and mgather into L1.
STREW_API Pipe pipe_of(const Statement& statement, Chip chip, size_t group);

/// The element types that mscatter may combine by `atomic`: add, max or min.
STREW_API const Legality& atomic_legality(std::string_view atomic);
/// Can tcvt convert `from` to `to`?
STREW_API bool converts(Chip chip, DType from, DType to);

/// PTO-AS: one suffix of an instruction such as mscatter.row.clamp.atomic_add, and the attribute that it sets.
struct Suffix {
  std::string_view text, attribute, value;
  int rank;  ///< suffixes stand in the order of their ranks, at most one of each rank
};
std::span<const Suffix> suffixes_of(Opcode opcode);  ///< of an mscatter or a gather

STREW_API std::string_view name(Chip chip);  ///< "a3", "a5", "any chip"

}  // namespace strew::inline v0::pto
