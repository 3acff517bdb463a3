// See parser.h. Attributes are looked up in the statement's row, so a misspelt attribute is an error here; ptoas drops it silently. Tested by
// tests/unit/compiler/pto/pto_text_test.cc and tests/error/pto_error_test.cc.
#include "compiler/pto/parser.h"

#include <algorithm>

#include "base/fp_environment.h"
#include "compiler/op/message.h"
#include "compiler/pto/parse.h"
#include "compiler/pto/words.h"

namespace strew::inline v0::pto {

Status error_at(Position at, const std::string& message) { return invalid_argument("{}:{}: {}", at.line, at.column, message); }

bool Parser::is_at(std::string_view text) const {
  if (text.starts_with('"')) return token().kind == TokenKind::string && token().text == text.substr(1, text.size() - 2);
  return (token().kind == TokenKind::mark || token().kind == TokenKind::word) && token().text == text;
}

bool Parser::accept(std::string_view text) {
  if (!is_at(text)) return false;
  lexer_.advance();
  return true;
}

Status Parser::failure(Position at, const std::string& message) const {
  if (!lexer_.error().empty()) return error_at(token().at, lexer_.error());
  return error_at(at, (statement_.empty() ? "" : statement_ + ": ") + message);
}

Status Parser::expect(std::string_view tokens, const std::string& what) {
  while (!tokens.empty()) {
    const std::string_view next = tokens.substr(0, tokens.find(' '));
    if (!accept(next)) return fail("{}", what.empty() ? shown(next) : what);
    tokens.remove_prefix(std::min(next.size() + 1, tokens.size()));
  }
  return {};
}

Expected<int64_t> Parser::number(const std::string& what) {
  int64_t value = 0;
  if (token().kind != TokenKind::number) return fail("{}", what);
  if (!parse_integer(token().text, value)) return fail("{} that fits 64 bits", what);
  lexer_.advance();
  return value;
}

Status Parser::one_of(Words words, std::string& into, const std::string& name) {
  if (token().kind != TokenKind::word || !contains(words, token().text)) return fail("{} to be one of {}", name, list_of(words));
  into = token().text;
  lexer_.advance();
  return {};
}

// --- attributes ---

Status Parser::dictionary(Names& names, const ReadAttribute& read) {
  STREW_TRY(expect("{"));
  if (accept("}")) return {};
  do {
    const Position at = token().at;
    const std::string name(token().text);
    if (token().kind != TokenKind::word) return fail("the name of an attribute");
    if (contains(names, name)) return fail_at(at, "attribute '{}' is there twice", name);
    names.push_back(name);
    lexer_.advance();
    STREW_TRY(read(name, at));
  } while (accept(","));
  return expect("}");
}

Status Parser::unknown_attribute(const std::string& name, Position at, const std::vector<std::string_view>& known) const {
  return fail_at(at, "attribute '{}' is unknown, expected {}{}{}", name, known.size() > 1 ? "one of " : "",
                 known.empty() ? "none" : list_of(known), did_you_mean(name, known));
}

/// `= #pto<family word>`, or `= #pto.family<word>` if the rule is dotted; in PTO-AS, `= word`.
Status Parser::attribute_value(const AttributeRule& rule, std::string& into) {
  const std::string name(rule.name), family(rule.family);
  STREW_TRY(expect("="));
  if (spelling_ == Spelling::as) return one_of(rule.values, into, name);
  STREW_TRY(expect(rule.dotted ? "# pto." + family + " <" : "# pto < " + family,
                   fmt::format(fmt::runtime(rule.dotted ? "{} to be #pto.{}<..>" : "{} to be #pto<{} ..>"), name, family)));
  STREW_TRY(one_of(rule.values, into, name));
  return expect(">");
}

/// An attribute of a statement, which is put where the order of its row has it.
Status Parser::statement_attribute(const std::string& name, Position at, Statement& s) {
  std::vector<std::string_view> names;
  for (const AttributeRule& rule : info(s.opcode).attributes) names.push_back(rule.name);
  const auto place = std::find(names.begin(), names.end(), name);
  if (place == names.end()) return unknown_attribute(name, at, names);
  const auto later = std::find_if(s.attributes.begin(), s.attributes.end(),
                                  [&](const Attribute& a) { return std::find(names.begin(), place, a.name) == place; });
  return attribute_value(info(s.opcode).attributes[place - names.begin()], s.attributes.insert(later, {name, {}})->value);
}

// --- values ---

/// `%name` of a new value. In PTO-AS it starts with a letter or `_`.
Expected<std::string> Parser::new_name(const char* what) {
  if (token().kind != TokenKind::value) return fail("{}", what);
  std::string out(token().text);
  if (spelling_ == Spelling::as && (!is_word_start(out.front()) || out.find_first_of("$-") != std::string::npos))
    return fail("a name of letters, digits, _ and ., no digit first");
  lexer_.advance();
  return out;
}

Status Parser::define(const std::string& name, Type type, Position at, std::optional<int64_t> constant) {
  const auto [place, fresh] = known_.try_emplace(name, Known{std::move(type), constant, at});
  if (!fresh) return fail_at(at, "%{} is defined in line {} already, expected a new name", name, place->second.at.line);
  order_.push_back(name);
  return {};
}

Status Parser::use(std::string& name) {
  if (token().kind != TokenKind::value) return fail("a value, %name");
  name = token().text;
  if (!known_.contains(name)) return fail_at(token().at, "%{} is not defined before, expected a value in scope", name);
  lexer_.advance();
  return {};
}

void Parser::leave_scope(size_t scope) {
  while (order_.size() > scope) {
    known_.erase(order_.back());
    order_.pop_back();
  }
}

/// `%name : type`.
Status Parser::argument(Function& function) {
  Argument out;
  out.at = token().at;
  STREW_ASSIGN(out.name, new_name("an argument, %name: type"));
  STREW_TRY(expect(":"));
  const Position at = token().at;
  STREW_ASSIGN(out.type, type());
  const bool is_ir = spelling_ == Spelling::ir;
  const TypeKind kind = out.type.kind;
  const bool integer = kind == TypeKind::index || (kind == TypeKind::scalar && is_integer(out.type.element.dtype));
  if (!integer && (is_ir ? kind != TypeKind::ptr : kind != TypeKind::memref && kind != TypeKind::tile))
    return fail_at(at, "argument %{} is {}, expected {}, index or an integer", out.name, text(out.type),
                   is_ir ? "!pto.ptr<..>" : "!pto.memref<..>, !pto.tile<..>");
  STREW_TRY(define(out.name, out.type, out.at));
  if (function.arguments.size() == kMaxArguments)
    return fail_at(out.at, "there are more than {} arguments, expected at most that", kMaxArguments);
  function.arguments.push_back(std::move(out));
  return {};
}

Expected<Module> parse(std::string_view text) {
  const FpEnvironment environment(true);
  if (text.size() > kMaxText) return invalid_argument("the text has {} bytes, expected at most {}", text.size(), kMaxText);
  const Lexer first(text, Spelling::as);
  if (first.token().kind == TokenKind::end)
    return error_at(first.token().at, "the text is empty, expected a module or PTO-AS lines");
  const std::string_view word = first.token().text;
  // Generic form begins with a string, and a text in which aliases are defined with a mark; PTO-AS has neither.
  const bool is_ir =
      word == "module" || word == "func.func" || word == "!" || word == "#" || first.token().kind == TokenKind::string;
  return Parser(text, is_ir ? Spelling::ir : Spelling::as).run();
}

}  // namespace strew::inline v0::pto
