// Instructions as data: how each statement is spelled and which attributes it takes. Parsers, printers and messages read this table;
// adding a statement is a row (and its meaning, where one is wanted).
#pragma once

#include <span>
#include <string_view>

#include "compiler/pto/ast.h"

namespace strew::pto {

/// The shape of a statement's pretty text.
enum class Form : uint8_t {
  constant,   ///< %r = NAME 16 : T
  cast,       ///< %r = NAME %a : T to T
  binary,     ///< %r = NAME %a, %b : T
  nullary,    ///< %r = NAME                        (i64)
  view,       ///< %r = NAME %p, shape = [..], strides = [..] {..} : T
  partition,  ///< %r = NAME %v, offsets = [..], sizes = [..] : T -> T
  alloc,      ///< %r = NAME addr = %a valid_row = %b valid_col = %c : T
  moves,      ///< NAME ins(%a, .. : T, ..) outs(%b : T) {..}
  flags,      ///< NAME[<PIPE_A>, <PIPE_B>, <EVENT_ID0>]
  barrier,    ///< NAME <PIPE_ALL>
  section,    ///< NAME { .. }
  loop,       ///< scf.for %r = %a to %b step %c { .. }
  as_only,    ///< PTO-AS
};

/// An attribute whose value is one of a list of words: `coalesce = #pto<coalesce row>`, or dotted: `layout = #pto.layout<nd>`.
struct AttributeRule {
  std::string_view name;
  std::string_view family;
  bool dotted;
  std::span<const std::string_view> values;
};

struct Instruction {
  Opcode opcode;
  std::string_view name;  ///< in PTO IR
  Form form;
  int groups = 0;  ///< operand groups
  int ins = 0;     ///< moves: how many of them stand in ins(..)
  std::span<const AttributeRule> attributes;
  std::string_view segments;  ///< generic form: operandSegmentSizes, a digit per segment, `*` as many as there are; empty: none
};

const Instruction& info(Opcode opcode);
/// The row of a PTO IR name, or null.
const Instruction* find_instruction(std::string_view name);
/// "pto.mscatter", or for what PTO-AS alone has "tload".
std::string_view name(Opcode opcode);

/// One suffix of mscatter.row.clamp.atomic_add: what it sets.
struct Suffix {
  std::string_view text, attribute, value;
  int rank;  ///< suffixes come in this order, at most one of each
};
std::span<const Suffix> scatter_suffixes();
std::span<const Suffix> gather_suffixes();

std::string_view name(Chip chip);  ///< "a3", "a5", "any chip"

}  // namespace strew::pto
