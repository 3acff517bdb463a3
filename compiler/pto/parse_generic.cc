// The parser of PTO IR in generic form, as ptoas and mlir-opt --mlir-print-op-generic print it: "pto.mscatter"(%s, %i, %t)
// <{coalesce = #pto<coalesce row>}> : (TS, TI, TV) -> (). It gives the same tree as the pretty form. A module may be in
// generic form as a whole ("builtin.module"), or single statements of it.
//
// A statement's attributes stand in `<{..}>` before its regions or, as MLIR before 17 prints them, in `{..}` behind
// them. operandSegmentSizes divides the operands into groups, and the types are compared with those of the operands.
// Tested by tests/unit/compiler/pto/pto_text_test.cc and tests/error/pto_error_test.cc.
#include <algorithm>

#include "compiler/pto/ir_parser.h"
#include "compiler/pto/parse.h"
#include "compiler/pto/types.h"

namespace strew::inline v0::pto {
namespace {

bool is_arith(const Instruction& row) { return row.name.starts_with("arith."); }
bool has_regions(const Instruction& row) {
  return row.form == Form::section || row.form == Form::loop || row.form == Form::branch;
}

/// The statements whose results may be promised not to overflow.
bool may_overflow(Opcode opcode) {
  return opcode == Opcode::addi || opcode == Opcode::subi || opcode == Opcode::muli || opcode == Opcode::shli ||
         opcode == Opcode::trunci;
}

}  // namespace

// --- modules and functions ---

/// What the attributes of a function say of it, beside its region.
struct IrParser::Signature {
  std::string name;
  bool has_type = false, has_visibility = false;
  std::vector<Type> types;  ///< of the arguments
  Position at;              ///< of the type
};

/// `"builtin.module"() <{sym_name = "m"}> ({ .. }) {pto.target_arch = "a5"} : () -> ()`.
Status IrParser::generic_module(Module& module) {
  statement_ = "builtin.module";
  lexer().advance();
  STREW_TRY(expect_mark("("));
  STREW_TRY(expect_mark(")"));
  if (accept_mark("<")) {
    STREW_TRY(module_attributes(module, /*is_generic=*/true));
    STREW_TRY(expect_mark(">"));
  }
  STREW_TRY(expect_mark("("));
  STREW_TRY(expect_mark("{"));
  statement_.clear();
  STREW_TRY(functions(module));
  STREW_TRY(expect_mark("}"));
  STREW_TRY(expect_mark(")"));
  statement_ = "builtin.module";
  if (at_mark("{")) STREW_TRY(module_attributes(module, /*is_generic=*/true));
  return no_values();
}

/// `"func.func"() <{function_type = (T) -> (), sym_name = "k"}> ({ ^bb0(%a: T): .. }) {pto.entry} : () -> ()`.
Expected<Function> IrParser::generic_function() {
  statement_ = "func.func";
  Function out;
  Signature signature;
  out.at = token().at;
  lexer().advance();
  STREW_TRY(expect_mark("("));
  STREW_TRY(expect_mark(")"));
  if (accept_mark("<")) {
    STREW_TRY(generic_function_attributes(out, signature));
    STREW_TRY(expect_mark(">"));
  }
  STREW_TRY(expect_mark("("));
  STREW_TRY(expect_mark("{"));
  const size_t outer = scope();
  if (accept_mark("^")) {
    if (token().kind != TokenKind::word) return fail("the name of the block, ^bb0");
    lexer().advance();
    STREW_TRY(expect_mark("("));
    STREW_TRY(arguments(out));
    STREW_TRY(expect_mark(":"));
  }
  const std::string named = statement_;
  statement_.clear();
  STREW_TRY(body(out.body, 0));
  statement_ = named;
  STREW_TRY(terminator("func.return"));
  STREW_TRY(expect_mark("}"));
  STREW_TRY(expect_mark(")"));
  leave_scope(outer);
  if (at_mark("{")) STREW_TRY(generic_function_attributes(out, signature));
  STREW_TRY(no_values());
  if (signature.name.empty() || !signature.has_type)
    return fail_at(out.at, std::string("it has no ") + (signature.name.empty() ? "sym_name" : "function_type") +
                               ", expected sym_name and function_type");
  out.name = signature.name;
  bool same = signature.types.size() == out.arguments.size();
  for (size_t i = 0; same && i < out.arguments.size(); ++i) same = out.arguments[i].type == signature.types[i];
  if (!same)
    return fail_at(signature.at, "function_type differs from the types of the block's arguments, expected the same ones");
  return out;
}

Status IrParser::generic_function_attributes(Function& function, Signature& signature) {
  STREW_TRY(expect_mark("{"));
  if (accept_mark("}")) return {};
  do {
    if (at_word("pto.entry") && !function.entry) {
      lexer().advance();
      function.entry = true;
    } else if (at_word("pto.kernel_kind") && function.kernel_kind.empty()) {
      lexer().advance();
      STREW_ASSIGN(function.kernel_kind, kernel_kind());
    } else if (at_word("sym_name") && signature.name.empty()) {
      STREW_TRY(symbol(signature.name));
      statement_ = "func.func @" + signature.name;
    } else if (at_word("sym_visibility") && !signature.has_visibility) {
      signature.has_visibility = true;
      std::string visibility;
      STREW_TRY(symbol(visibility));
    } else if (at_word("function_type") && !signature.has_type) {
      STREW_TRY(signature_type(signature));
    } else {
      return fail("an attribute of a function, each once: sym_name, sym_visibility, function_type, pto.entry or pto.kernel_kind");
    }
  } while (accept_mark(","));
  return expect_mark("}");
}

/// `function_type = (T, T) -> ()`.
Status IrParser::signature_type(Signature& signature) {
  signature.has_type = true;
  lexer().advance();
  STREW_TRY(expect_mark("="));
  signature.at = token().at;
  STREW_TRY(expect_mark("("));
  while (!at_mark(")")) {
    if (signature.types.size() == kMaxArguments) return fail("at most " + std::to_string(kMaxArguments) + " types");
    STREW_ASSIGN(signature.types.emplace_back(), type());
    if (!at_mark(")")) STREW_TRY(expect_mark(","));
  }
  lexer().advance();
  STREW_TRY(expect_mark("->"));
  STREW_TRY(expect_mark("("));
  return expect_mark(")");
}

/// `sym_name = "k"`.
Status IrParser::symbol(std::string& name) {
  lexer().advance();
  STREW_TRY(expect_mark("="));
  if (token().kind != TokenKind::string || token().text.empty() ||
      !std::all_of(token().text.begin(), token().text.end(), [](char c) { return is_word(c) || c == '-'; }))
    return fail("a name in quotes");
  name = token().text;
  lexer().advance();
  return {};
}

/// `: () -> ()`.
Status IrParser::no_values() {
  for (const char* mark : {":", "(", ")", "->", "(", ")"}) STREW_TRY(expect_mark(mark));
  return {};
}

/// `"func.return"() : () -> ()`: the last statement of a region.
Status IrParser::terminator(std::string_view name) {
  if (!at_string(name)) return fail("\"" + std::string(name) + "\"");
  lexer().advance();
  STREW_TRY(expect_mark("("));
  STREW_TRY(expect_mark(")"));
  return no_values();
}

// --- statements ---

Status IrParser::generic(Statement& s, int depth) {
  const Position at = s.at;
  Names names;
  STREW_TRY(expect_mark("("));
  while (!at_mark(")")) {
    STREW_TRY(use(names.emplace_back()).status());
    if (names.size() > 16) return fail("at most 16 operands");
    if (!at_mark(")")) STREW_TRY(expect_mark(","));
  }
  lexer().advance();
  if (s.opcode == Opcode::mgather && names.size() == 4) s.opcode = Opcode::gather_l1_elem;
  const Instruction& row = info(s.opcode);
  std::vector<int64_t> segments;
  if (has_regions(row)) {
    STREW_TRY(split_operands(row, names, {}, at, s));
    STREW_TRY(generic_regions(row, s, depth));
  } else {
    STREW_TRY(dictionaries(row, s, row.segments.empty() ? nullptr : &segments));
    STREW_TRY(split_operands(row, names, segments, at, s));
  }
  choose_l1_opcode(s);
  if ((row.form == Form::flags || row.form == Form::barrier) && s.attributes.size() != row.attributes.size())
    return fail_at(at, "it has " + std::to_string(s.attributes.size()) + " attributes, expected all of its " +
                           std::to_string(row.attributes.size()));
  if (row.form == Form::compare && s.attributes.empty()) return fail_at(at, "it has no predicate, expected one from 0 to 9");
  if (row.form == Form::constant && s.type.kind == TypeKind::none) return fail_at(at, "it has no value, expected one");
  return generic_types(names, s);
}

/// `<{..}>`, `{..}` or both, without an attribute that is in both.
Status IrParser::dictionaries(const Instruction& row, Statement& s, std::vector<int64_t>* segments) {
  for (const bool is_property : {true, false}) {
    if (is_property ? !accept_mark("<") : !at_mark("{")) continue;
    STREW_TRY(expect_mark("{"));
    STREW_TRY(is_arith(row) ? arith_attributes(row, s) : attributes(row, segments, s.attributes));
    STREW_TRY(expect_mark("}"));
    if (is_property) STREW_TRY(expect_mark(">"));
  }
  return {};
}

/// `value = 3 : index`, `predicate = 2 : i64`, `overflowFlags = #arith.overflow<none>`.
Status IrParser::arith_attributes(const Instruction& row, Statement& s) {
  if (at_mark("}")) return {};
  do {
    const std::string name(token().kind == TokenKind::word ? token().text : std::string_view());
    const bool is_value = row.form == Form::constant && name == "value" && s.type.kind == TypeKind::none;
    const bool is_predicate = row.form == Form::compare && name == "predicate" && s.attributes.empty();
    if (!is_value && !is_predicate && !(may_overflow(s.opcode) && name == "overflowFlags"))
      return fail(row.form == Form::constant  ? "value, once"
                  : row.form == Form::compare ? "predicate, once"
                  : may_overflow(s.opcode)    ? "overflowFlags"
                                              : "no attribute");
    lexer().advance();
    STREW_TRY(expect_mark("="));
    if (is_value) {
      STREW_TRY(constant(s));
    } else if (is_predicate) {
      STREW_TRY(predicate(row, s));
    } else {
      STREW_TRY(expect_mark("#"));
      STREW_TRY(expect_word("arith.overflow"));
      STREW_TRY(expect_mark("<"));
      STREW_TRY(expect_word("none"));
      STREW_TRY(expect_mark(">"));
    }
  } while (accept_mark(","));
  return {};
}

/// `2 : i64`, the number of a predicate in the order of MLIR's, which is that of the instruction's row.
Status IrParser::predicate(const Instruction& row, Statement& s) {
  const AttributeRule& rule = row.attributes[0];
  const Position at = token().at;
  STREW_ASSIGN(const int64_t value, number("the number of a predicate"));
  if (value < 0 || value >= static_cast<int64_t>(rule.values.size()))
    return fail_at(at, "predicate is " + std::to_string(value) + ", expected 0 to " + std::to_string(rule.values.size() - 1));
  s.attributes.push_back({std::string(rule.name), std::string(rule.values[static_cast<size_t>(value)])});
  STREW_TRY(expect_mark(":"));
  return expect_word("i64");
}

/// The regions of a loop, a branch or a section: `({ .. })`, `({ .. }, { .. })`. Attributes of these statements would
/// change what they mean, so there may be none.
Status IrParser::generic_regions(const Instruction& row, Statement& s, int depth) {
  STREW_TRY(dictionaries(row, s, nullptr));
  if (row.form == Form::branch) STREW_TRY(check_types(s));
  STREW_TRY(expect_mark("("));
  STREW_TRY(region(s.body, s, depth));
  if (row.form == Form::branch) {
    STREW_TRY(expect_mark(","));
    STREW_TRY(region(s.otherwise, s, depth));
  }
  STREW_TRY(expect_mark(")"));
  return dictionaries(row, s, nullptr);
}

Status IrParser::region(std::vector<Statement>& into, Statement& s, int depth) {
  const Form form = info(s.opcode).form;
  STREW_TRY(expect_mark("{"));
  const size_t outer = scope();
  if (form == Form::loop) STREW_TRY(loop_variable(s));
  const bool is_absent = form == Form::branch && &into == &s.otherwise && at_mark("}");
  STREW_TRY(body(into, depth + 1));
  if (form != Form::section && !is_absent) STREW_TRY(terminator("scf.yield"));
  leave_scope(outer);
  return expect_mark("}");
}

/// `^bb0(%i: index):`.
Status IrParser::loop_variable(Statement& s) {
  STREW_TRY(expect_mark("^"));
  if (token().kind != TokenKind::word) return fail("the name of the block, ^bb0");
  lexer().advance();
  STREW_TRY(expect_mark("("));
  const Position at = token().at;
  if (token().kind != TokenKind::value) return fail("the loop's variable, %name");
  s.result = token().text;
  lexer().advance();
  STREW_TRY(expect_mark(":"));
  STREW_ASSIGN(s.type, type());
  if (at_mark(",")) return fail("')': a loop that carries values is not read");
  STREW_TRY(expect_mark(")"));
  STREW_TRY(expect_mark(":"));
  STREW_TRY(check_types(s));
  return define(s.result, s.type, at);
}

Status IrParser::split_operands(const Instruction& row, const Names& names, const std::vector<int64_t>& segments, Position at,
                                Statement& s) {
  std::vector<int64_t> sizes = segments;
  if (row.segments.empty()) sizes.assign(row.groups(), 1);
  std::string shown;
  for (size_t i = 0; i < sizes.size(); ++i) shown += (i > 0 ? ", " : "") + std::to_string(sizes[i]);
  bool fits = row.segments.empty() || sizes.size() == row.segments.size();
  int64_t total = 0;
  for (size_t i = 0; fits && i < sizes.size(); ++i) {
    if (!row.segments.empty() && row.segments[i] != '*') fits = sizes[i] == row.segments[i] - '0';
    if (s.opcode == Opcode::alloc_tile) fits = fits && sizes[i] <= 1;
    total += sizes[i];
  }
  if (!fits) return fail_at(at, "operandSegmentSizes is [" + shown + "], expected what a " + std::string(row.name) + " has");
  if (total != static_cast<int64_t>(names.size()))
    return fail_at(at, "it has " + std::to_string(names.size()) + " operands, expected " + std::to_string(total));
  s.operands.resize(row.groups());
  size_t next = 0;
  for (size_t g = 0; g < s.operands.size(); ++g)
    for (int64_t i = 0; i < sizes[g]; ++i) s.operands[g].push_back(names[next++]);
  return {};
}

/// `: (T, T) -> T` or `-> ()`.
Status IrParser::generic_types(const Names& names, Statement& s) {
  STREW_TRY(expect_mark(":"));
  STREW_TRY(expect_mark("("));
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) STREW_TRY(expect_mark(","));
    STREW_TRY(expect_type(type_of(names[i]), "%" + names[i]));
  }
  STREW_TRY(expect_mark(")"));
  STREW_TRY(expect_mark("->"));
  const Form form = info(s.opcode).form;
  if (s.result.empty() || form == Form::loop) {
    STREW_TRY(expect_mark("("));
    return expect_mark(")");
  }
  if (form == Form::constant) return expect_type(s.type, "its value");
  if (form != Form::compare) {
    STREW_ASSIGN(s.type, type());
    return {};
  }
  STREW_TRY(compared(s, type_of(s.operands[0][0])));
  return expect_type(s.type, "%" + s.result);
}

}  // namespace strew::inline v0::pto
