// Instructions as data: how each statement is spelled, what its operands are, which attributes it takes, what it may be done to on which
// chip, where it runs there, and what it computes. Parsers, printers, the verifier and the simulator read this table; adding a
// statement is a row, and where it computes something new an entry of Compute.
#pragma once

#include <span>
#include <string_view>

#include "compiler/pto/ast.h"
#include "strew/export.h"

namespace strew::inline v0::pto {

/// The shape of a statement's pretty text.
enum class Form : uint8_t {
  constant,   ///< %r = NAME 16 : T
  cast,       ///< %r = NAME %a : T to T
  binary,     ///< %r = NAME %a, %b : T
  compare,    ///< %r = NAME slt, %a, %b : T        (i1)
  select,     ///< %r = NAME %c, %a, %b : T
  nullary,    ///< %r = NAME                        (i64)
  view,       ///< %r = NAME %p, shape = [..], strides = [..] {..} : T
  partition,  ///< %r = NAME %v, offsets = [..], sizes = [..] : T -> T
  alloc,      ///< %r = NAME addr = %a valid_row = %b valid_col = %c : T
  moves,      ///< NAME ins(%a, .. : T, ..) outs(%b : T) {..}
  computes,   ///< NAME ins(%a, .. {..} : T, ..) outs(%b : T)
  get,        ///< %r = NAME ins(%t, %i : T, index) outs : T
  set,        ///< NAME ins(%i, %v : index, T) outs(%t : T)
  load,       ///< %r = NAME %p[%i] : T -> T
  store,      ///< NAME %v, %p[%i] : T, T
  flags,      ///< NAME[<PIPE_A>, <PIPE_B>, <EVENT_ID0>]
  barrier,    ///< NAME <PIPE_ALL>
  section,    ///< NAME { .. }
  loop,       ///< scf.for %r = %a to %b step %c { .. }
  branch,     ///< scf.if %c { .. } else { .. }
  as_only,    ///< PTO-AS
};

/// An attribute whose value is one of a list of words: `coalesce = #pto<coalesce row>`, or dotted: `layout = #pto.layout<nd>`.
struct AttributeRule {
  std::string_view name;
  std::string_view family;
  bool dotted;
  std::span<const std::string_view> values;
  std::span<const std::string_view> cpp = {};  ///< how the chips' headers spell each value
};

/// What an operand group holds. Tiles and numbers of a statement have one element type, the exceptions are named.
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

/// Units of a core that run side by side. `all` is every one of them.
enum class Pipe : uint8_t { none, s, v, mte1, mte2, mte3, all };
STREW_API std::string_view name(Pipe pipe);            ///< "PIPE_MTE2"
STREW_API Pipe pipe_from_name(std::string_view name);  ///< none: not one that the programs here have
inline constexpr int kPipes = 5, kEvents = 8;          ///< s to mte3; EVENT_ID0 to EVENT_ID7

/// What a tile instruction does to each element of its tiles and its numbers, in order.
enum class Compute : uint8_t {
  none,
  add,
  sub,
  mul,
  div,
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

/// Element types as a set.
using DTypes = uint64_t;
constexpr DTypes set_of(std::initializer_list<DType> dtypes) {
  DTypes out = 0;
  for (const DType d : dtypes) out |= DTypes{1} << static_cast<int>(d);
  return out;
}
/// What the chips' headers take, and what ptoas 0.60 lets through (measured); a program for ptoas needs both.
struct Legality {
  DTypes a3 = 0, a5 = 0, ptoas_a3 = 0, ptoas_a5 = 0;
};
/// Who reads a program: the chips' headers (as C++), or ptoas (as PTO IR) and then the headers.
enum class Reader : uint8_t { headers, ptoas };
STREW_API bool allows(const Legality& legality, Chip chip, Reader reader, DType dtype);

struct Instruction {
  Opcode opcode;
  std::string_view name;  ///< in PTO IR
  Form form;
  std::span<const Operand> operands;  ///< a group each
  int ins = 0;                        ///< moves, computes: how many of them stand in ins(..)
  std::span<const AttributeRule> attributes;
  std::string_view segments;  ///< generic form: operandSegmentSizes, a digit per segment, `*` as many as there are; empty: none
  Pipe a3 = Pipe::none, a5 = Pipe::none;  ///< none: nothing runs, or it runs where scalars do
  const Legality* legality = nullptr;     ///< of the elements; null: any
  Compute compute = Compute::none;
  std::string_view cpp;  ///< the call in the chips' headers: {0} an operand of group 0, {cmpMode} an attribute's value
  size_t groups() const { return operands.size(); }
};

STREW_API const Instruction& info(Opcode opcode);
/// The row of a PTO IR name, or null. mgather and tmov have another one for tiles in L1, which their operands tell.
const Instruction* find_instruction(std::string_view name);
/// "pto.mscatter", or for what PTO-AS alone has "tload".
STREW_API std::string_view name(Opcode opcode);

/// Where a statement handles operand group `group` on a chip. All groups agree but for mgather on a3, whose indices are read by the
/// scalar unit while rows come through MTE2.
STREW_API Pipe pipe_of(const Statement& statement, Chip chip, size_t group);

/// What mscatter may combine by `atomic`: add, max, min.
STREW_API const Legality& atomic_legality(std::string_view atomic);
/// Pairs tcvt takes: {from, to}.
STREW_API bool converts(Chip chip, DType from, DType to);

/// One suffix of mscatter.row.clamp.atomic_add: what it sets.
struct Suffix {
  std::string_view text, attribute, value;
  int rank;  ///< suffixes come in this order, at most one of each
};
std::span<const Suffix> scatter_suffixes();
std::span<const Suffix> gather_suffixes();

STREW_API std::string_view name(Chip chip);  ///< "a3", "a5", "any chip"

}  // namespace strew::inline v0::pto
