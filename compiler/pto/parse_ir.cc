// The parser of PTO IR in pretty form: `module`, `func.func`, and statements, each by the form in its row of
// instructions.cc. parse_generic.cc parses statements in quotes (generic form). check_types.cc checks the types of
// both. Tested by tests/unit/compiler/pto/pto_text_test.cc and tests/error/pto_error_test.cc.
#include <algorithm>
#include <charconv>

#include "base/fp_environment.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/partial_switch.h"
#include "compiler/pto/ir_parser.h"
#include "compiler/pto/parse.h"
#include "compiler/pto/types.h"

namespace strew::inline v0::pto {
namespace {

STREW_PARTIAL_SWITCHES

bool gives_result(Form form) {
  switch (form) {
    case Form::constant:
    case Form::cast:
    case Form::binary:
    case Form::compare:
    case Form::select:
    case Form::nullary:
    case Form::view:
    case Form::partition:
    case Form::alloc:
    case Form::get:
    case Form::load:
      return true;
    default:
      return false;
  }
}

STREW_END_PARTIAL_SWITCHES

std::string_view nearest_statement(std::string_view written) {
  std::vector<std::string_view> known;
  for (int i = 0; i < static_cast<int>(Opcode::load_tile); ++i) known.push_back(name(static_cast<Opcode>(i)));
  return nearest(written, known);
}

}  // namespace

Status IrParser::functions(Module& out) {
  while (at_word("func.func") || at_string("func.func")) {
    STREW_ASSIGN(Function f, at_word("func.func") ? function() : generic_function());
    for (const Function& other : out.functions)
      if (other.name == f.name) return fail_at(f.at, "function @" + f.name + " is there twice, expected names that differ");
    if (out.functions.size() == kMaxFunctions)
      return fail_at(
          f.at, "it is function " + std::to_string(kMaxFunctions + 1) + ", expected at most " + std::to_string(kMaxFunctions));
    out.functions.push_back(std::move(f));
  }
  return {};
}

Expected<Module> IrParser::run() {
  Module out;
  const bool is_generic = at_string("builtin.module"), wrapped = is_generic || accept_word("module");
  if (is_generic) {
    STREW_TRY(generic_module(out));
  } else if (wrapped) {
    statement_ = "module";
    if (token().kind == TokenKind::symbol) lexer().advance();
    if (accept_word("attributes")) STREW_TRY(module_attributes(out));
    STREW_TRY(expect_mark("{"));
    statement_.clear();
  }
  if (!is_generic) STREW_TRY(functions(out));
  if (wrapped && !is_generic) STREW_TRY(expect_mark("}"));
  if (token().kind != TokenKind::end) return fail(wrapped ? "the end of the text" : "func.func or the end of the text");
  if (out.functions.empty()) return fail_at(token().at, "the module has no functions, expected func.func");
  return out;
}

Expected<std::string> IrParser::kernel_kind() {
  STREW_TRY(expect_mark("="));
  STREW_TRY(expect_mark("#"));
  STREW_TRY(expect_word("pto.kernel_kind"));
  STREW_TRY(expect_mark("<"));
  if (!at_word("vector") && !at_word("cube")) return fail("vector, which scatters and gathers, or cube, which gathers into L1");
  std::string kind(token().text);
  lexer().advance();
  STREW_TRY(expect_mark(">"));
  return kind;
}

Status IrParser::module_attributes(Module& module, bool is_generic) {
  STREW_TRY(expect_mark("{"));
  std::vector<std::string_view> seen;
  if (accept_mark("}")) return {};
  do {
    const Token key = token();
    if (std::find(seen.begin(), seen.end(), key.text) != seen.end()) return fail("each attribute once");
    seen.push_back(key.text);
    if (accept_word("pto.kernel_kind")) {
      STREW_ASSIGN(module.kernel_kind, kernel_kind());
      continue;
    }
    if (is_generic && at_word("sym_name")) {
      std::string name;
      STREW_TRY(symbol(name));
      continue;
    }
    const bool arch = at_word("pto.target_arch");
    if (!arch && !at_word("pto.backend"))
      return fail("an attribute of the module: pto.target_arch, pto.backend or pto.kernel_kind");
    lexer().advance();
    STREW_TRY(expect_mark("="));
    const std::string value(token().text);
    if (token().kind != TokenKind::string || (arch && value != "a3" && value != "a5") || (!arch && value != "emitc"))
      return fail(arch ? "\"a3\" or \"a5\"" : "\"emitc\"");
    lexer().advance();
    if (arch) module.chip = value == "a3" ? Chip::a3 : Chip::a5;
    if (!arch) module.backend = value;
  } while (accept_mark(","));
  return expect_mark("}");
}

Status IrParser::function_attributes(Function& function) {
  STREW_TRY(expect_mark("{"));
  if (accept_mark("}")) return {};
  do {
    if (at_word("pto.entry") && !function.entry) {
      lexer().advance();
      function.entry = true;
    } else if (at_word("pto.kernel_kind") && function.kernel_kind.empty()) {
      lexer().advance();
      STREW_ASSIGN(function.kernel_kind, kernel_kind());
    } else {
      return fail("an attribute of a function, each once: pto.entry or pto.kernel_kind");
    }
  } while (accept_mark(","));
  return expect_mark("}");
}

Expected<Function> IrParser::function() {
  statement_ = "func.func";
  Function out;
  lexer().advance();
  if (!accept_word("public")) accept_word("private");
  out.at = token().at;
  if (token().kind != TokenKind::symbol) return fail("the function's name, @name");
  out.name = token().text;
  statement_ += " @" + out.name;
  lexer().advance();
  STREW_TRY(expect_mark("("));
  const size_t outer = scope();
  STREW_TRY(arguments(out));
  if (accept_word("attributes")) STREW_TRY(function_attributes(out));
  STREW_TRY(expect_mark("{"));
  statement_.clear();
  STREW_TRY(body(out.body, 0));
  if (at_string("func.return"))
    STREW_TRY(terminator("func.return"));
  else
    STREW_TRY(expect_word("return"));
  STREW_TRY(expect_mark("}"));
  leave_scope(outer);
  return out;
}

/// `%a: T, %b: T)`, with the closing parenthesis.
Status IrParser::arguments(Function& out) {
  while (!at_mark(")")) {
    Argument argument;
    argument.at = token().at;
    if (token().kind != TokenKind::value) return fail("an argument, %name: type");
    argument.name = token().text;
    lexer().advance();
    STREW_TRY(expect_mark(":"));
    const Position at = token().at;
    STREW_ASSIGN(argument.type, type());
    const TypeKind kind = argument.type.kind;
    const bool integer = kind == TypeKind::index || (kind == TypeKind::scalar && is_integer(argument.type.element.dtype));
    if (kind != TypeKind::ptr && !integer)
      return fail_at(
          at, "argument %" + argument.name + " is " + print(argument.type) + ", expected !pto.ptr<..>, index or an integer");
    STREW_TRY(define(argument.name, argument.type, argument.at));
    if (out.arguments.size() == kMaxArguments)
      return fail_at(argument.at, "it has more than " + std::to_string(kMaxArguments) + " arguments, expected at most that");
    out.arguments.push_back(std::move(argument));
    if (!at_mark(")")) STREW_TRY(expect_mark(","));
  }
  lexer().advance();
  return {};
}

Status IrParser::body(std::vector<Statement>& out, int depth) {
  const std::string outer = statement_;
  while (!at_mark("}") && !at_word("return") && !at_string("func.return") && !at_string("scf.yield")) {
    statement_.clear();
    STREW_ASSIGN(Statement s, statement(depth));
    out.push_back(std::move(s));
  }
  statement_ = outer;
  return {};
}

Expected<Statement> IrParser::statement(int depth) {
  Statement s;
  s.at = token().at;
  std::string result;
  if (token().kind == TokenKind::value) {
    result = token().text;
    lexer().advance();
    STREW_TRY(expect_mark("="));
    s.at = token().at;
  }
  const bool quoted = token().kind == TokenKind::string;
  const Instruction* row = quoted || token().kind == TokenKind::word ? find_instruction(token().text) : nullptr;
  if (row == nullptr) {
    const bool word = token().kind == TokenKind::word;
    const std::string_view near = word || quoted ? nearest_statement(token().text) : std::string_view();
    return fail_at(token().at, "statement " + (word ? std::string(token().text) : lexer().found()) +
                                   " is unknown, expected return or a statement of docs/sources.md" +
                                   (near.empty() ? "" : "; did you mean " + std::string(near) + "?"));
  }
  const bool loops = row->form == Form::loop || row->form == Form::section || row->form == Form::branch;
  if (loops && depth >= kMaxNesting)
    return fail_at(s.at, "more than " + std::to_string(kMaxNesting) + " loops in one another, expected at most that");
  statement_ = row->name;
  s.opcode = row->opcode;
  lexer().advance();
  const bool gives = gives_result(row->form);
  if (gives != !result.empty())
    return fail_at(s.at, gives ? "its result has no name, expected %name = before it"
                               : "it has no result, expected it without %" + result + " = before it");
  if (gives) s.result = std::move(result);
  STREW_TRY(quoted ? generic(s, depth) : pretty(*row, s, depth));
  if (loops) return s;
  STREW_TRY(check_types(s));
  if (!gives) return s;
  const bool integer = s.opcode == Opcode::constant && !is_float(s.type.element.dtype);
  const std::optional<int64_t> constant = integer ? std::optional(s.value) : std::nullopt;
  STREW_TRY(define(s.result, s.type, s.at, constant));
  return s;
}

Status IrParser::pretty(const Instruction& row, Statement& s, int depth) {
  switch (row.form) {
    case Form::constant:
      return constant(s);
    case Form::cast:
      return cast(s);
    case Form::binary:
      return binary(s);
    case Form::nullary:
      s.type = make_scalar(DType::i64);
      return {};
    case Form::view:
      return view(row, s);
    case Form::partition:
      return partition(s);
    case Form::alloc:
      return alloc(s);
    case Form::moves:
    case Form::computes:
      return moves(row, s);
    case Form::compare:
      return compare(row, s);
    case Form::select:
      return select(s);
    case Form::get:
      return get(s);
    case Form::set:
      return set(s);
    case Form::load:
    case Form::store:
      return element(row, s);
    case Form::branch:
      return branch(s, depth);
    case Form::flags:
    case Form::barrier:
      return flags(row, s);
    case Form::section: {
      STREW_TRY(expect_mark("{"));
      const size_t outer = scope();
      STREW_TRY(body(s.body, depth + 1));
      leave_scope(outer);
      return expect_mark("}");
    }
    case Form::loop:
      return loop(s, depth);
    case Form::as_only:
      break;
  }
  return internal_error("an instruction without a form");
}

/// `-3 : i32`, `1.5 : f32`, `0x7F800000 : f32`; the tree has the bits of a float.
Status IrParser::constant(Statement& s) {
  const Position at = token().at;
  const std::string_view rest = lexer().rest();
  const std::string written(rest.substr(0, std::min(rest.find_first_of(" :\n\t"), rest.size())));
  const bool hex = written.starts_with("0x"), fraction = !hex && written.find('.') != std::string::npos;
  if (!hex && !fraction) {
    STREW_ASSIGN(s.value, number("an integer"));
  } else {
    lexer().skip(written.size());
  }
  STREW_TRY(expect_mark(":"));
  STREW_ASSIGN(s.type, type());
  const bool floating = s.type.kind == TypeKind::scalar && is_float(s.type.element.dtype);
  if (!hex && !fraction && !floating) return {};
  const auto wrong = [&](const char* expected) {
    return fail_at(at, "the value is " + written.substr(0, 40) + " : " + print(s.type) + ", expected " + expected);
  };
  if (!floating) return wrong("an integer");
  if (!hex && !fraction) return wrong("a number with a decimal point, or its bits as 0x..");
  const DType dtype = s.type.element.dtype;
  const char *begin = written.data() + (hex ? 2 : 0), *end = written.data() + written.size();
  uint64_t code = 0;
  double value = 0;
  const auto [stop, error] = hex ? std::from_chars(begin, end, code, 16) : std::from_chars(begin, end, value);
  const bool fits = !hex || bits(dtype) == 64 || code >> bits(dtype) == 0;
  if (error != std::errc() || stop != end || !fits) return wrong("a number with a decimal point, or its bits as 0x..");
  s.value = static_cast<int64_t>(hex ? code : encode(dtype, value));
  return {};
}

Status IrParser::cast(Statement& s) {
  s.operands.resize(1);
  STREW_TRY(use(s.operands[0].emplace_back()).status());
  STREW_TRY(expect_mark(":"));
  STREW_TRY(expect_type(type_of(s.operands[0][0]), "%" + s.operands[0][0]));
  STREW_TRY(expect_word("to"));
  STREW_ASSIGN(s.type, type());
  return {};
}

Status IrParser::binary(Statement& s) {
  s.operands.resize(2);
  STREW_TRY(use(s.operands[0].emplace_back()).status());
  STREW_TRY(expect_mark(","));
  STREW_TRY(use(s.operands[1].emplace_back()).status());
  STREW_TRY(expect_mark(":"));
  STREW_ASSIGN(s.type, type());
  return {};
}

/// `slt, %a, %b : T`; the result is i1.
Status IrParser::compare(const Instruction& row, Statement& s) {
  const AttributeRule& rule = row.attributes[0];
  const bool known_word =
      token().kind == TokenKind::word && std::find(rule.values.begin(), rule.values.end(), token().text) != rule.values.end();
  if (!known_word) return fail("a predicate: eq, ne, slt, sle, sgt, sge, ult, ule, ugt or uge");
  s.attributes.push_back({std::string(rule.name), std::string(token().text)});
  lexer().advance();
  STREW_TRY(expect_mark(","));
  STREW_TRY(binary(s));
  const Type operands = s.type;
  return compared(s, operands);
}

/// The result of a comparison is i1; its operands must be of type `operands`.
Status IrParser::compared(Statement& s, const Type& operands) {
  s.type = make_scalar(DType::boolean);
  for (const auto& group : s.operands)
    if (type_of(group[0]) != operands)
      return fail_at(s.at, "%" + group[0] + " is " + print(type_of(group[0])) + ", expected " + print(operands));
  return {};
}

/// `%c, %a, %b : T`.
Status IrParser::select(Statement& s) {
  s.operands.resize(3);
  for (size_t g = 0; g < 3; ++g) {
    if (g > 0) STREW_TRY(expect_mark(","));
    STREW_TRY(use(s.operands[g].emplace_back()).status());
  }
  STREW_TRY(expect_mark(":"));
  STREW_ASSIGN(s.type, type());
  return {};
}

/// `ins(%t, %i : T, index) outs : T`.
Status IrParser::get(Statement& s) {
  STREW_TRY(ins_or_outs("ins", 2, s));
  STREW_TRY(expect_word("outs"));
  STREW_TRY(expect_mark(":"));
  STREW_ASSIGN(s.type, type());
  return {};
}

/// `ins(%i, %v : index, T) outs(%t : T)`; the tree has tile, index, number.
Status IrParser::set(Statement& s) {
  STREW_TRY(ins_or_outs("ins", 2, s));
  STREW_TRY(ins_or_outs("outs", 1, s));
  std::rotate(s.operands.begin(), s.operands.begin() + 2, s.operands.end());
  return {};
}

/// `%p[%i] : P -> T`, or `%v, %p[%i] : P, T`; the tree has pointer, index and, for a store, number.
Status IrParser::element(const Instruction& row, Statement& s) {
  const bool stores = row.form == Form::store;
  std::string number;
  if (stores) {
    STREW_TRY(use(number).status());
    STREW_TRY(expect_mark(","));
  }
  s.operands.resize(2);
  STREW_TRY(use(s.operands[0].emplace_back()).status());
  STREW_TRY(expect_mark("["));
  STREW_TRY(use(s.operands[1].emplace_back()).status());
  STREW_TRY(expect_mark("]"));
  STREW_TRY(expect_mark(":"));
  STREW_TRY(expect_type(type_of(s.operands[0][0]), "%" + s.operands[0][0]));
  STREW_TRY(expect_mark(stores ? "," : "->"));
  if (!stores) {
    STREW_ASSIGN(s.type, type());
    return {};
  }
  s.operands.push_back({number});
  return expect_type(type_of(number), "%" + number);
}

/// `scf.if %c { .. } else { .. }`.
Status IrParser::branch(Statement& s, int depth) {
  s.operands.resize(1);
  STREW_TRY(use(s.operands[0].emplace_back()).status());
  STREW_TRY(check_types(s));
  for (std::vector<Statement>* into : {&s.body, &s.otherwise}) {
    if (into == &s.otherwise && !accept_word("else")) break;
    STREW_TRY(expect_mark("{"));
    const size_t outer = scope();
    STREW_TRY(body(*into, depth + 1));
    leave_scope(outer);
    STREW_TRY(expect_mark("}"));
  }
  return {};
}

/// `what = [%a, %b]`.
Expected<Parser::Names> IrParser::list(const char* what) {
  Names out;
  STREW_TRY(expect_word(what));
  STREW_TRY(expect_mark("="));
  STREW_TRY(expect_mark("["));
  do {
    STREW_TRY(use(out.emplace_back()).status());
    if (out.size() > 5) return fail(std::string("at most 5 ") + what);
  } while (accept_mark(","));
  STREW_TRY(expect_mark("]"));
  return out;
}

Status IrParser::braced_attributes(const Instruction& row, Statement& s) {
  if (!accept_mark("{")) return {};
  STREW_TRY(attributes(row, nullptr, s.attributes));
  return expect_mark("}");
}

Status IrParser::view(const Instruction& row, Statement& s) {
  s.operands.resize(3);
  STREW_TRY(use(s.operands[0].emplace_back()).status());
  STREW_TRY(expect_mark(","));
  STREW_ASSIGN(s.operands[1], list("shape"));
  STREW_TRY(expect_mark(","));
  STREW_ASSIGN(s.operands[2], list("strides"));
  STREW_TRY(braced_attributes(row, s));
  STREW_TRY(expect_mark(":"));
  STREW_ASSIGN(s.type, type());
  return {};
}

Status IrParser::partition(Statement& s) {
  s.operands.resize(3);
  STREW_TRY(use(s.operands[0].emplace_back()).status());
  STREW_TRY(expect_mark(","));
  STREW_ASSIGN(s.operands[1], list("offsets"));
  STREW_TRY(expect_mark(","));
  STREW_ASSIGN(s.operands[2], list("sizes"));
  STREW_TRY(expect_mark(":"));
  STREW_TRY(expect_type(type_of(s.operands[0][0]), "%" + s.operands[0][0]));
  if (accept_mark("->")) {
    STREW_ASSIGN(s.type, type());
    return {};
  }
  // ptoas prints a partition_view without its result type, which then follows from the sizes.
  s.type.kind = TypeKind::partition_view;
  s.type.element = type_of(s.operands[0][0]).element;
  for (const std::string& size : s.operands[2]) s.type.dims.push_back(known(size).constant.value_or(kDynamic));
  return {};
}

Status IrParser::alloc(Statement& s) {
  s.operands.resize(3);
  constexpr const char* kGroups[] = {"addr", "valid_row", "valid_col"};
  for (size_t g = 0; g < 3; ++g) {
    if (!accept_word(kGroups[g])) continue;
    STREW_TRY(expect_mark("="));
    STREW_TRY(use(s.operands[g].emplace_back()).status());
  }
  if (!at_mark(":")) return fail("addr = %a, valid_row = %b, valid_col = %c in this order, or ':' and the tile's type");
  lexer().advance();
  STREW_ASSIGN(s.type, type());
  return {};
}

/// `ins(%a, %b : T, T)` or `outs(..)`: parses `count` operands, each of which becomes a group.
Status IrParser::ins_or_outs(const char* word, size_t count, Statement& s, const Instruction* attributed) {
  STREW_TRY(expect_word(word));
  STREW_TRY(expect_mark("("));
  const size_t first = s.operands.size();
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) STREW_TRY(expect_mark(","));
    STREW_TRY(use(s.operands.emplace_back().emplace_back()).status());
    // A gather of elements into L1 has scratch memory as a third operand.
    if (s.opcode == Opcode::mgather && i == 1 && at_mark(",")) count = 3;
  }
  if (attributed != nullptr) STREW_TRY(braced_attributes(*attributed, s));
  STREW_TRY(expect_mark(":"));
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) STREW_TRY(expect_mark(","));
    const std::string& operand = s.operands[first + i][0];
    STREW_TRY(expect_type(type_of(operand), "%" + operand));
  }
  return expect_mark(")");
}

Status IrParser::moves(const Instruction& row, Statement& s) {
  const bool computes = row.form == Form::computes;
  STREW_TRY(ins_or_outs("ins", static_cast<size_t>(row.ins), s, computes ? &row : nullptr));
  STREW_TRY(ins_or_outs("outs", row.groups() - static_cast<size_t>(row.ins), s));
  if (s.opcode == Opcode::mgather && s.operands.size() == 4) std::swap(s.operands[2], s.operands[3]);
  choose_l1_opcode(s);
  return computes ? Status() : braced_attributes(row, s);
}

/// Replaces the opcode of an mgather or tmov with a tile in L1, for which the instruction table has other rows.
void IrParser::choose_l1_opcode(Statement& s) {
  const auto in_l1 = [&](size_t group) {
    const Type& type = type_of(s.operands[group][0]);
    return type.kind == TypeKind::tile && type.tile.location == "mat";
  };
  if (s.opcode == Opcode::mgather && (s.operands.size() == 4 || in_l1(2)))
    s.opcode = s.operands.size() == 4 ? Opcode::gather_l1_elem : Opcode::gather_l1;
  if (s.opcode == Opcode::tmov && in_l1(0)) s.opcode = Opcode::move_l1;
}

/// `[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]`; a barrier has one pipe and no brackets, perhaps with `#pto.pipe` before it.
Status IrParser::flags(const Instruction& row, Statement& s) {
  const bool bracketed = row.form == Form::flags;
  if (bracketed) STREW_TRY(expect_mark("["));
  for (const AttributeRule& rule : row.attributes) {
    if (!s.attributes.empty()) STREW_TRY(expect_mark(","));
    if (!bracketed && accept_mark("#")) STREW_TRY(expect_word("pto.pipe"));
    STREW_TRY(expect_mark("<"));
    const bool fits =
        token().kind == TokenKind::word && std::find(rule.values.begin(), rule.values.end(), token().text) != rule.values.end();
    if (!fits)
      return fail(rule.family == "pipe" ? "a pipe: PIPE_MTE2, PIPE_V, PIPE_MTE3, ..." : "an event: EVENT_ID0 to EVENT_ID7");
    s.attributes.push_back({std::string(rule.name), std::string(token().text)});
    lexer().advance();
    STREW_TRY(expect_mark(">"));
  }
  return bracketed ? expect_mark("]") : Status();
}

Status IrParser::loop(Statement& s, int depth) {
  const Position at = token().at;
  if (token().kind != TokenKind::value) return fail("the loop's variable, %name");
  s.result = token().text;
  lexer().advance();
  STREW_TRY(expect_mark("="));
  s.operands.resize(3);
  STREW_TRY(use(s.operands[0].emplace_back()).status());
  STREW_TRY(expect_word("to"));
  STREW_TRY(use(s.operands[1].emplace_back()).status());
  STREW_TRY(expect_word("step"));
  STREW_TRY(use(s.operands[2].emplace_back()).status());
  s.type = make_index();
  if (accept_mark(":")) {
    STREW_ASSIGN(s.type, type());
  }
  if (at_word("iter_args")) return fail("'{': a loop that carries values is not read");
  STREW_TRY(check_types(s));
  STREW_TRY(expect_mark("{"));
  const size_t outer = scope();
  STREW_TRY(define(s.result, s.type, at));
  STREW_TRY(body(s.body, depth + 1));
  leave_scope(outer);
  return expect_mark("}");
}

Expected<Module> parse_ir(std::string_view text) {
  STREW_ASSIGN(const PlainText plain, plain_text(text));
  return IrParser(plain).run();
}

Expected<Module> parse(std::string_view text) {
  const FpEnvironment environment(true);
  if (text.size() > kMaxText)
    return invalid_argument("the text has " + std::to_string(text.size()) + " bytes, expected at most " +
                            std::to_string(kMaxText));
  const Lexer first(text);
  if (first.token().kind == TokenKind::end)
    return error_at(first.token().at, "the text is empty, expected a module or PTO-AS lines");
  const std::string_view word = first.token().text;
  // Generic form begins with a string, and a text in which aliases are defined with a mark; PTO-AS has neither.
  const bool is_ir =
      word == "module" || word == "func.func" || word == "!" || word == "#" || first.token().kind == TokenKind::string;
  return is_ir ? parse_ir(text) : parse_as(text);
}

}  // namespace strew::inline v0::pto
