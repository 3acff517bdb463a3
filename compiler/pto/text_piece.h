// The pieces of Instruction::text, the template of a statement's text, by which statements are both parsed and printed. White space and words
// and marks stand for themselves. Besides them there are:
//
//   $01   an operand of each of these groups, with commas between them. Behind a group: `*` it has up to five operands; `+` it has two;
//         `?` there may be none
//   #01   the types of the operands of these groups; #r the type of the result
//   &0    the value of an attribute, counted in the order of the instruction's row
//   @     the attributes in braces, with a space before them, if there are any
//   %     the name of the result, which else stands before the statement
//   ~     the value of a constant, and its type
//   ^0    a region: 0 is the body, 1 `otherwise`
//   |..|  may be left out; the parser knows by its first word or mark whether it is there
//
// Tested by tests/unit/compiler/pto/pto_text_test.cc.
#pragma once

#include <string_view>

namespace strew::inline v0::pto {

enum class PieceKind : char {
  blank = ' ',
  token = 'a',
  operands = '$',
  types = '#',
  attribute = '&',
  attributes = '@',
  result = '%',
  constant = '~',
  region = '^',
  optional = '|',
};

struct Piece {
  PieceKind kind = PieceKind::blank;
  std::string_view text;  ///< a token; the groups; what may be left out
};

/// Takes the first piece of `text`, which is not empty.
Piece next_piece(std::string_view& text);

}  // namespace strew::inline v0::pto
