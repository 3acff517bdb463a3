// PTO IR in pretty form: `module`, `func.func`, and the statements by the form their row in instructions.cc names. A statement in
// quotes is read by parse_generic.cc; both end in check_types.cc. Tested by tests/unit/pto_text_test.cc, tests/error/pto_error_test.cc.
#include <algorithm>

#include "compiler/pto/ir_parser.h"
#include "compiler/pto/parse.h"
#include "compiler/pto/types.h"

namespace strew::pto {
namespace {

std::string known_statements() {
  std::string out = "arith on integers";
  for (int i = static_cast<int>(Opcode::get_block_idx); i <= static_cast<int>(Opcode::loop); ++i)
    out += ", " + std::string(name(static_cast<Opcode>(i)));
  return out;
}

}  // namespace

Expected<Module> IrParser::run() {
  Module out;
  const bool wrapped = accept_word("module");
  if (wrapped) {
    statement_ = "module";
    if (token().kind == TokenKind::symbol) lexer().advance();
    if (accept_word("attributes")) STREW_TRY(module_attributes(out));
    STREW_TRY(expect_mark("{"));
    statement_.clear();
  }
  while (at_word("func.func")) {
    STREW_ASSIGN(Function f, function());
    for (const Function& other : out.functions)
      if (other.name == f.name) return fail_at(f.at, "function @" + f.name + " is there twice, expected names that differ");
    if (out.functions.size() == kMaxFunctions)
      return fail_at(
          f.at, "it is function " + std::to_string(kMaxFunctions + 1) + ", expected at most " + std::to_string(kMaxFunctions));
    out.functions.push_back(std::move(f));
  }
  if (wrapped) STREW_TRY(expect_mark("}"));
  if (token().kind != TokenKind::end) return fail(wrapped ? "the end of the text" : "func.func or the end of the text");
  if (out.functions.empty()) return fail_at(token().at, "the module has no functions, expected func.func");
  return out;
}

Expected<std::string> IrParser::kernel_kind() {
  STREW_TRY(expect_mark("="));
  STREW_TRY(expect_mark("#"));
  STREW_TRY(expect_word("pto.kernel_kind"));
  STREW_TRY(expect_mark("<"));
  if (!at_word("vector")) return fail("vector, the one kind of kernel that scatters and gathers");
  lexer().advance();
  STREW_TRY(expect_mark(">"));
  return std::string("vector");
}

Status IrParser::module_attributes(Module& module) {
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
  if (accept_word("attributes")) STREW_TRY(function_attributes(out));
  STREW_TRY(expect_mark("{"));
  statement_.clear();
  STREW_TRY(body(out.body, 0));
  STREW_TRY(expect_word("return"));
  STREW_TRY(expect_mark("}"));
  leave_scope(outer);
  return out;
}

Status IrParser::body(std::vector<Statement>& out, int depth) {
  const std::string outer = statement_;
  while (!at_mark("}") && !at_word("return")) {
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
  if (row == nullptr)
    return fail_at(token().at, "statement " + (token().kind == TokenKind::word ? std::string(token().text) : lexer().found()) +
                                   " is unknown, expected return or one of: " + known_statements());
  const bool loops = row->form == Form::loop || row->form == Form::section;
  if (loops && depth >= kMaxNesting)
    return fail_at(s.at, "more than " + std::to_string(kMaxNesting) + " loops in one another, expected at most that");
  statement_ = row->name;
  s.opcode = row->opcode;
  lexer().advance();
  const bool gives = row->form != Form::moves && row->form != Form::flags && row->form != Form::barrier && !loops;
  if (gives != !result.empty())
    return fail_at(s.at, gives ? "its result has no name, expected %name = before it"
                               : "it has no result, expected it without %" + result + " = before it");
  if (gives) s.result = std::move(result);
  STREW_TRY(quoted ? generic(s, depth) : pretty(*row, s, depth));
  if (loops) return s;
  STREW_TRY(check_types(s));
  if (!gives) return s;
  const std::optional<int64_t> constant = s.opcode == Opcode::constant ? std::optional(s.value) : std::nullopt;
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
      return moves(row, s);
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

Status IrParser::constant(Statement& s) {
  STREW_ASSIGN(s.value, number("an integer"));
  STREW_TRY(expect_mark(":"));
  STREW_ASSIGN(s.type, type());
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
  STREW_ASSIGN(s.attributes, attributes(row, nullptr));
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
  // ptoas prints it without its type, which is then what the sizes say.
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

/// `ins(%a, %b : T, T)`: `count` more operands of one group each.
Status IrParser::ins_or_outs(const char* word, size_t count, Statement& s) {
  STREW_TRY(expect_word(word));
  STREW_TRY(expect_mark("("));
  const size_t first = s.operands.size();
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) STREW_TRY(expect_mark(","));
    STREW_TRY(use(s.operands.emplace_back().emplace_back()).status());
  }
  STREW_TRY(expect_mark(":"));
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) STREW_TRY(expect_mark(","));
    const std::string& operand = s.operands[first + i][0];
    STREW_TRY(expect_type(type_of(operand), "%" + operand));
  }
  return expect_mark(")");
}

Status IrParser::moves(const Instruction& row, Statement& s) {
  STREW_TRY(ins_or_outs("ins", static_cast<size_t>(row.ins), s));
  STREW_TRY(ins_or_outs("outs", static_cast<size_t>(row.groups - row.ins), s));
  return braced_attributes(row, s);
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

Expected<Module> parse_ir(std::string_view text) { return IrParser(text).run(); }

Expected<Module> parse(std::string_view text) {
  if (text.size() > kMaxText)
    return invalid_argument("the text has " + std::to_string(text.size()) + " bytes, expected at most " +
                            std::to_string(kMaxText));
  const Lexer first(text);
  if (first.token().kind == TokenKind::end)
    return error_at(first.token().at, "the text is empty, expected a module or PTO-AS lines");
  const std::string_view word = first.token().kind == TokenKind::word ? first.token().text : std::string_view();
  return word == "module" || word == "func.func" ? parse_ir(text) : parse_as(text);
}

}  // namespace strew::pto
