// The parser of PTO-AS, whose published grammar no longer changes: `.arg`, `.const` and instructions, one per line.
// mscatter and mgather have their operands in another order than PTO IR; the tree has the order of PTO IR. The grammar
// does not define types; strew writes and reads !pto.memref<AxBxT> and !pto.tile<RxCxT>. Tested by
// tests/unit/compiler/pto/pto_text_test.cc and tests/error/pto_error_test.cc.
#include <algorithm>
#include <charconv>

#include "base/number.h"
#include "compiler/pto/instructions.h"
#include "compiler/pto/parse.h"
#include "compiler/pto/parser.h"
#include "compiler/pto/types.h"

namespace strew::inline v0::pto {
namespace {

class AsParser : public Parser {
 public:
  using Parser::Parser;
  Expected<Module> run();

 private:
  Status argument(Function& function);
  Status constant(Function& function);
  Status instruction(Function& function);
  Status computes(const Instruction& row, Statement s, Function& function);
  Status word_attributes(const Instruction& row, Statement& s);
  Status suffixes(std::string_view text, std::span<const Suffix> known, Statement& s);
  Status load(Statement& s);
  Status store(Statement& s);
  Status scatter(Statement& s);
  Status gather(Statement& s);
  Status operand(Statement& s, TypeKind kind, const char* what);
  Status element_address(Statement& s);
  Status address_types();
  Status signature(std::initializer_list<const std::string*> operands);
  Status same_element(const std::string& a, const Type& b, const char* what);
  Expected<std::string> new_name();
  Status end_line();
};

Expected<Module> AsParser::run() {
  Module out;
  out.spelling = Spelling::as;
  Function& function = out.functions.emplace_back();
  while (token().kind != TokenKind::end) {
    statement_.clear();
    if (!token().line_start) return fail("a new line before the next statement");
    if (!at_mark(".")) {
      STREW_TRY(instruction(function));
      continue;
    }
    lexer().advance();
    if (!at_word("arg") && !at_word("const")) return fail("arg or const after '.'");
    STREW_TRY(token().text == "arg" ? argument(function) : constant(function));
  }
  return out;
}

/// Parses `%name` of a new value, which in PTO-AS starts with a letter or `_`.
Expected<std::string> AsParser::new_name() {
  if (token().kind != TokenKind::value) return fail("a value, %name");
  std::string out(token().text);
  if (!is_word_start(out.front()) || out.find_first_of("$-") != std::string::npos)
    return fail("a name of letters, digits, _ and ., no digit first");
  lexer().advance();
  return out;
}

Status AsParser::end_line() {
  accept_mark(";");
  if (token().kind == TokenKind::end || token().line_start) return {};
  return fail("the end of the line");
}

Status AsParser::argument(Function& function) {
  statement_ = ".arg";
  Argument out;
  lexer().advance();
  out.at = token().at;
  STREW_ASSIGN(out.name, new_name());
  STREW_TRY(expect_mark(":"));
  const Position at = token().at;
  STREW_ASSIGN(out.type, type());
  const TypeKind kind = out.type.kind;
  const bool integer = kind == TypeKind::index || (kind == TypeKind::scalar && is_integer(out.type.element.dtype));
  if (!integer && kind != TypeKind::memref && kind != TypeKind::tile)
    return fail_at(at,
                   "%" + out.name + " is " + print(out.type) + ", expected !pto.memref<..>, !pto.tile<..>, index or an integer");
  STREW_TRY(define(out.name, out.type, out.at));
  if (function.arguments.size() == kMaxArguments)
    return fail_at(out.at, "there are more than " + std::to_string(kMaxArguments) + " arguments, expected at most that");
  function.arguments.push_back(std::move(out));
  return end_line();
}

Status AsParser::constant(Function& function) {
  statement_ = ".const";
  Statement s;
  s.at = token().at;
  lexer().advance();
  STREW_ASSIGN(s.result, new_name());
  STREW_TRY(expect_mark("="));
  const Position at = token().at;
  const std::string_view rest = lexer().rest();
  const std::string written(rest.substr(0, std::min(rest.find_first_of(" :;\n\t"), rest.size())));
  const bool fraction = written.find('.') != std::string::npos;
  if (fraction) {
    lexer().skip(written.size());
  } else {
    STREW_ASSIGN(s.value, number("a number"));
  }
  STREW_TRY(expect_mark(":"));
  STREW_ASSIGN(s.type, type());
  const bool floating = s.type.kind == TypeKind::scalar && is_float(s.type.element.dtype);
  if (s.type.kind != TypeKind::index && !floating && (s.type.kind != TypeKind::scalar || !is_integer(s.type.element.dtype)))
    return fail_at(s.at, "the type is " + print(s.type) + ", expected index or a number");
  if (fraction != floating)
    return fail_at(at, "the value is " + written.substr(0, 40) + " : " + print(s.type) + ", expected " +
                           (floating ? "a decimal point" : "an integer"));
  if (floating) {
    double value = 0;
    const char* const end = written.data() + written.size();
    const auto [stop, error] = std::from_chars(written.data(), end, value, std::chars_format::fixed);
    if (error != std::errc() || stop != end) return fail_at(at, "the value is " + written.substr(0, 40) + ", expected digits");
    s.value = static_cast<int64_t>(encode(s.type.element.dtype, value));
  }
  STREW_TRY(define(s.result, s.type, s.at, floating ? std::nullopt : std::optional(s.value)));
  function.body.push_back(std::move(s));
  return end_line();
}

Status AsParser::instruction(Function& function) {
  Statement s;
  s.at = token().at;
  if (token().kind == TokenKind::value) {
    STREW_ASSIGN(s.result, new_name());
    STREW_TRY(expect_mark("="));
  }
  const std::string opcode(token().kind == TokenKind::word ? token().text : std::string_view());
  const std::string stem = opcode.substr(0, opcode.find('.'));
  const std::string_view rest = std::string_view(opcode).substr(std::min(stem.size() + 1, opcode.size()));
  const Instruction* const row = rest.empty() ? find_instruction("pto." + stem) : nullptr;
  if (row != nullptr && row->form == Form::computes) return computes(*row, std::move(s), function);
  if (stem != "tload" && stem != "tstore" && stem != "mscatter" && stem != "mgather")
    return fail("an instruction: tload, tstore, mscatter.MODE, mgather.MODE or one of tiles (or module, which starts PTO IR)");
  statement_ = opcode;
  const bool gives = !s.result.empty();
  if (stem != "mgather" && gives != (stem == "tload"))
    return fail_at(s.at, gives ? "it has no result, expected it without %" + s.result + " = before it"
                               : "its result has no name, expected %name = before it");
  if (stem[0] == 't' && !rest.empty()) return fail("no suffix");
  s.opcode = stem == "tload"      ? Opcode::load_tile
             : stem == "tstore"   ? Opcode::store_tile
             : stem == "mscatter" ? Opcode::mscatter
             : gives              ? Opcode::gather_tile
                                  : Opcode::mgather;
  if (stem[0] == 'm') STREW_TRY(suffixes(rest, stem == "mscatter" ? scatter_suffixes() : gather_suffixes(), s));
  lexer().advance();
  STREW_TRY(stem == "tload" ? load(s) : stem == "tstore" ? store(s) : stem == "mscatter" ? scatter(s) : gather(s));
  if (gives) STREW_TRY(define(s.result, s.type, s.at));
  function.body.push_back(std::move(s));
  return end_line();
}

/// `%d = tadds %s, %n {..} : (T, N) -> T`. As in PTO IR, the last operand in the tree is the tile that is written, here
/// the result itself.
Status AsParser::computes(const Instruction& row, Statement s, Function& function) {
  statement_ = token().text;
  s.opcode = row.opcode;
  if (s.result.empty()) return fail_at(s.at, "its result has no name, expected %name = before it");
  lexer().advance();
  for (size_t g = 0; g + 1 < row.operands.size(); ++g) {
    if (g > 0) STREW_TRY(expect_mark(","));
    const bool number = row.operands[g].kind == Kind::number;
    STREW_TRY(operand(s, number ? TypeKind::scalar : TypeKind::tile, number ? "a number" : "a tile"));
  }
  if (accept_mark("{")) {
    STREW_TRY(word_attributes(row, s));
  }
  if (!at_mark(":")) return fail("':' and the types: a tile's type stands nowhere else");
  lexer().advance();
  STREW_TRY(expect_mark("("));
  for (size_t g = 0; g < s.operands.size(); ++g) {
    if (g > 0) STREW_TRY(expect_mark(","));
    STREW_TRY(expect_type(known(s.operands[g][0]).type, "%" + s.operands[g][0]));
  }
  STREW_TRY(expect_mark(")"));
  STREW_TRY(expect_mark("->"));
  STREW_ASSIGN(s.type, type());
  if (s.type.kind != TypeKind::tile) return fail_at(s.at, "its result is " + print(s.type) + ", expected a tile");
  const bool same = row.operands.back().kind == Kind::tile;
  for (size_t g = 0; g < s.operands.size() && same; ++g)
    if (row.operands[g].kind == Kind::tile || row.operands[g].kind == Kind::number)
      STREW_TRY(same_element(s.operands[g][0], s.type, "the result"));
  STREW_TRY(define(s.result, s.type, s.at));
  s.operands.push_back({s.result});
  function.body.push_back(std::move(s));
  return end_line();
}

/// `rmode = RINT}`: attributes whose values are plain words, in the order of the instruction's row.
Status AsParser::word_attributes(const Instruction& row, Statement& s) {
  for (const AttributeRule& rule : row.attributes) {
    if (!at_word(rule.name)) continue;
    lexer().advance();
    STREW_TRY(expect_mark("="));
    const bool fits =
        token().kind == TokenKind::word && std::find(rule.values.begin(), rule.values.end(), token().text) != rule.values.end();
    if (!fits) return fail("one of the values of " + std::string(rule.name));
    s.attributes.push_back({std::string(rule.name), std::string(token().text)});
    lexer().advance();
    if (!accept_mark(",")) break;
  }
  return expect_mark("}");
}

Status AsParser::suffixes(std::string_view text, std::span<const Suffix> known, Statement& s) {
  std::string all;
  for (const Suffix& k : known) all += (all.empty() ? "." : " .") + std::string(k.text);
  int rank = -1;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find('.'));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const Suffix* found = nullptr;
    for (const Suffix& k : known)
      if (k.text == word) found = &k;
    if (found == nullptr) return fail_at(s.at, "suffix '." + std::string(word) + "' is unknown, expected some of " + all);
    if (found->rank <= rank)
      return fail_at(s.at, "suffix '." + std::string(word) + "' stands too late, expected the order of " + all);
    rank = found->rank;
    s.attributes.push_back({std::string(found->attribute), std::string(found->value)});
  }
  if (s.attribute("coalesce").empty()) return fail_at(s.at, "it has no mode, expected .row or .elem first");
  // The tree has the order of the instruction's row: coalesce, scatterAtomicOp, scatterOob.
  if (s.attributes.size() == 3) std::swap(s.attributes[1], s.attributes[2]);
  return {};
}

/// Parses one operand, which becomes a group of its own.
Status AsParser::operand(Statement& s, TypeKind kind, const char* what) {
  const Position at = token().at;
  std::string& into = s.operands.emplace_back().emplace_back();
  STREW_ASSIGN(const Known* value, use(into));
  if (value->type.kind == kind) return {};
  return fail_at(at, "%" + into + " is " + print(value->type, Spelling::as) + ", expected " + what);
}

/// `%view[%row, 0]`: two groups, the memref and its two indices.
Status AsParser::element_address(Statement& s) {
  const Position at = token().at;
  STREW_TRY(operand(s, TypeKind::memref, "a memref"));
  if (known(s.operands.back()[0]).type.dims.size() != 2)
    return fail_at(
        at, "%" + s.operands.back()[0] + " is " + print(known(s.operands.back()[0]).type) + ", expected a memref of two dims");
  STREW_TRY(expect_mark("["));
  Names indices;
  for (int i = 0; i < 2; ++i) {
    if (i > 0) STREW_TRY(expect_mark(","));
    if (token().kind == TokenKind::number) {
      STREW_ASSIGN(const int64_t literal, number("an index"));
      if (literal < 0) return fail_at(at, "an index is " + std::to_string(literal) + ", expected 0 or more");
      indices.push_back(std::to_string(literal));
      continue;
    }
    const Position where = token().at;
    STREW_ASSIGN(const Known* value, use(indices.emplace_back()));
    if (value->type.kind != TypeKind::index)
      return fail_at(where, "%" + indices.back() + " is " + print(value->type) + ", expected index");
  }
  s.operands.push_back(std::move(indices));
  return expect_mark("]");
}

Status AsParser::address_types() {
  for (int i = 0; i < 2; ++i) {
    STREW_TRY(expect_mark(","));
    STREW_TRY(expect_word("index"));
  }
  return {};
}

/// `: (T, T, T)`, which may be left out if the statement has no result.
Status AsParser::signature(std::initializer_list<const std::string*> operands) {
  if (at_mark("{")) return fail("no attributes: PTO-AS has suffixes");
  if (!accept_mark(":")) return {};
  STREW_TRY(expect_mark("("));
  for (const std::string* operand : operands) {
    if (operand != *operands.begin()) STREW_TRY(expect_mark(","));
    STREW_TRY(expect_type(known(*operand).type, "%" + *operand));
  }
  return expect_mark(")");
}

Status AsParser::same_element(const std::string& a, const Type& b, const char* what) {
  if (known(a).type.element == b.element) return {};
  return fail_at(token().at, std::string(what) + " has elements of " + print(b.element) + ", expected " +
                                 print(known(a).type.element) + " as %" + a + " has");
}

Status AsParser::load(Statement& s) {
  STREW_TRY(element_address(s));
  if (!at_mark(":")) return fail("':' and the types: a tile's type stands nowhere else");
  lexer().advance();
  STREW_TRY(expect_mark("("));
  STREW_TRY(expect_type(known(s.operands[0][0]).type, "%" + s.operands[0][0]));
  STREW_TRY(address_types());
  STREW_TRY(expect_mark(")"));
  STREW_TRY(expect_mark("->"));
  STREW_ASSIGN(s.type, type());
  if (s.type.kind != TypeKind::tile) return fail_at(s.at, "its result is " + print(s.type) + ", expected a tile");
  return same_element(s.operands[0][0], s.type, "the tile");
}

Status AsParser::store(Statement& s) {
  STREW_TRY(operand(s, TypeKind::tile, "a tile"));
  STREW_TRY(expect_mark(","));
  STREW_TRY(element_address(s));
  STREW_TRY(same_element(s.operands[0][0], known(s.operands[1][0]).type, "the memref"));
  if (!accept_mark(":")) return {};
  STREW_TRY(expect_mark("("));
  STREW_TRY(expect_type(known(s.operands[0][0]).type, "%" + s.operands[0][0]));
  STREW_TRY(expect_mark(","));
  STREW_TRY(expect_type(known(s.operands[1][0]).type, "%" + s.operands[1][0]));
  STREW_TRY(address_types());
  return expect_mark(")");
}

/// The text has table, source, indices; the tree has source, indices, table.
Status AsParser::scatter(Statement& s) {
  STREW_TRY(operand(s, TypeKind::memref, "a memref: the table comes first, then the source tile, then the index tile"));
  STREW_TRY(expect_mark(","));
  STREW_TRY(operand(s, TypeKind::tile, "a tile"));
  STREW_TRY(expect_mark(","));
  STREW_TRY(operand(s, TypeKind::tile, "a tile"));
  const std::string table = s.operands[0][0], source = s.operands[1][0], indices = s.operands[2][0];
  STREW_TRY(signature({&table, &source, &indices}));
  s.operands = {{source}, {indices}, {table}};
  return same_element(table, known(source).type, "the source");
}

/// The text has tile, table, indices, or, with a result, table, indices; the tree has table, indices, and without a
/// result the tile.
Status AsParser::gather(Statement& s) {
  const bool gives = !s.result.empty();
  std::string tile;
  if (!gives) {
    STREW_TRY(operand(s, TypeKind::tile, "a tile: the destination comes first, then the table, then the index tile"));
    tile = s.operands[0][0];
    s.operands.clear();
    STREW_TRY(expect_mark(","));
  }
  STREW_TRY(operand(s, TypeKind::memref, "a memref"));
  STREW_TRY(expect_mark(","));
  STREW_TRY(operand(s, TypeKind::tile, "a tile"));
  const std::string table = s.operands[0][0], indices = s.operands[1][0];
  if (!gives) {
    STREW_TRY(signature({&tile, &table, &indices}));
    s.operands.push_back({tile});
    return same_element(table, known(tile).type, "the destination");
  }
  if (!at_mark(":")) return fail("':' and the types: a tile's type stands nowhere else");
  STREW_TRY(signature({&table, &indices}));
  STREW_TRY(expect_mark("->"));
  STREW_ASSIGN(s.type, type());
  if (s.type.kind != TypeKind::tile) return fail_at(s.at, "its result is " + print(s.type) + ", expected a tile");
  return same_element(table, s.type, "the result");
}

}  // namespace

Expected<Module> parse_as(std::string_view text) { return AsParser(text).run(); }

}  // namespace strew::inline v0::pto
