// The parser of modules and functions of PTO IR, in pretty and in generic form. Tested by tests/unit/compiler/pto/pto_text_test.cc and
// tests/error/pto_error_test.cc.
#include <algorithm>

#include "compiler/pto/parse.h"
#include "compiler/pto/parser.h"
#include "compiler/pto/words.h"

namespace strew::inline v0::pto {
namespace {

constexpr std::string_view kKernelKinds[] = {"vector", "cube"};
constexpr AttributeRule kKernelKind = {"pto.kernel_kind", "kernel_kind", true, kKernelKinds};

}  // namespace

/// What the attributes of a function in generic form say of it.
struct Parser::Signature {
  std::vector<Type> types;  ///< of the arguments
  bool has_type = false;
  Position at;  ///< of the type
};

/// `module @m attributes {pto.target_arch = "a5"} { .. }`, or `"builtin.module"() <{sym_name = "m"}> ({ .. }) {pto.target_arch = "a5"} : () ->
/// ()`, or functions without a module.
Expected<Module> Parser::module() {
  Module out;
  const bool is_generic = is_at("\"builtin.module\""), is_wrapped = is_generic || is_at("module");
  Names names;
  const auto read = [&](const std::string& name, Position at) { return module_attribute(name, at, is_generic, out); };
  const std::string statement = is_generic ? "builtin.module" : "module";
  if (is_wrapped) {
    statement_ = statement;
    lexer_.advance();
    if (!is_generic && token().kind == TokenKind::symbol) lexer_.advance();
    STREW_TRY(open_region(is_generic, names, read));
    statement_.clear();
  }
  while (is_at("func.func") || is_at("\"func.func\"")) {
    STREW_ASSIGN(Function f, function());
    for (const Function& other : out.functions)
      if (other.name == f.name) return fail_at(f.at, "function @{} is there twice, expected names that differ", f.name);
    if (out.functions.size() == kMaxFunctions)
      return fail_at(f.at, "it is function {}, expected at most {}", kMaxFunctions + 1, kMaxFunctions);
    out.functions.push_back(std::move(f));
  }
  if (is_generic) statement_ = statement;
  if (is_wrapped) STREW_TRY(close_region(is_generic, names, read));
  if (token().kind != TokenKind::end) return fail("{}the end of the text", is_wrapped ? "" : "func.func or ");
  if (out.functions.empty()) return fail_at(token().at, "the module has no functions, expected func.func");
  return out;
}

Status Parser::module_attribute(const std::string& name, Position at, bool is_generic, Module& module) {
  if (name == kKernelKind.name) return attribute_value(kKernelKind, module.kernel_kind);
  if (name == "pto.target_arch") {
    STREW_ASSIGN(const std::string chip, string_value({"a3", "a5"}));
    module.chip = chip == "a3" ? Chip::a3 : Chip::a5;
    return {};
  }
  if (name == "pto.backend") {
    STREW_ASSIGN(module.backend, string_value({"emitc"}));
    return {};
  }
  if (is_generic && name == "sym_name") return string_value({}).status();
  return unknown_attribute(name, at, {"pto.target_arch", "pto.backend", kKernelKind.name});
}

/// `func.func @k(%a: T) attributes {pto.entry} { .. return }`, or
/// `"func.func"() <{function_type = (T) -> (), sym_name = "k"}> ({ ^bb0(%a: T): .. "func.return"() : () -> () }) {pto.entry} : () -> ()`.
Expected<Function> Parser::function() {
  const bool is_generic = token().kind == TokenKind::string;
  Function out;
  Signature signature;
  Names names;
  const auto read = [&](const std::string& name, Position at) {
    return function_attribute(name, at, is_generic ? &signature : nullptr, out);
  };
  statement_ = "func.func";
  out.at = token().at;
  lexer_.advance();
  const size_t outer = scope();
  if (!is_generic) {
    if (!accept("public")) accept("private");
    out.at = token().at;
    if (token().kind != TokenKind::symbol) return fail("the function's name, @name");
    out.name = token().text;
    statement_ += " @" + out.name;
    lexer_.advance();
    STREW_TRY(arguments(out));
  }
  STREW_TRY(open_region(is_generic, names, read));
  if (is_generic && is_at("^")) {
    STREW_TRY(block_name());
    STREW_TRY(arguments(out));
    STREW_TRY(expect(":"));
  }
  STREW_TRY(body(out.body, 0));
  STREW_TRY(expect(is_generic || is_at("\"func.return\"") ? "\"func.return\" ( ) : ( ) -> ( )" : "return"));
  STREW_TRY(close_region(is_generic, names, read));
  leave_scope(outer);
  statement_.clear();
  if (!is_generic) return out;
  statement_ = "func.func";
  if (out.name.empty() || !signature.has_type)
    return fail_at(out.at, "it has no {}, expected sym_name and function_type", out.name.empty() ? "sym_name" : "function_type");
  const auto same = [](const Argument& argument, const Type& type) { return argument.type == type; };
  statement_ += " @" + out.name;
  if (!std::equal(out.arguments.begin(), out.arguments.end(), signature.types.begin(), signature.types.end(), same))
    return fail_at(signature.at, "function_type differs from the types of the block's arguments, expected the same ones");
  statement_.clear();
  return out;
}

/// `signature`: null in pretty form, in which the name and the types stand elsewhere.
Status Parser::function_attribute(const std::string& name, Position at, Signature* signature, Function& function) {
  if (name == kKernelKind.name) return attribute_value(kKernelKind, function.kernel_kind);
  if (name == "pto.entry") {
    function.entry = true;
    return {};
  }
  if (signature == nullptr) return unknown_attribute(name, at, {"pto.entry", kKernelKind.name});
  if (name == "sym_visibility") return string_value({}).status();
  if (name == "function_type") return function_type(*signature);
  if (name != "sym_name")
    return unknown_attribute(name, at, {"sym_name", "sym_visibility", "function_type", "pto.entry", kKernelKind.name});
  STREW_ASSIGN(function.name, string_value({}));
  statement_ = "func.func @" + function.name;
  return {};
}

/// `= (T, T) -> ()`.
Status Parser::function_type(Signature& signature) {
  signature.has_type = true;
  STREW_TRY(expect("="));
  signature.at = token().at;
  STREW_TRY(listed([&]() -> Status {
    if (signature.types.size() == kMaxArguments) return fail("at most {} types", kMaxArguments);
    STREW_ASSIGN(signature.types.emplace_back(), type());
    return {};
  }));
  return expect("-> ( )");
}

/// `(%a: T, %b: T)`.
Status Parser::arguments(Function& function) {
  return listed([&] { return argument(function); });
}

/// `= "a5"`, one of `values`; or any name, if there are none.
Expected<std::string> Parser::string_value(std::initializer_list<std::string_view> values) {
  STREW_TRY(expect("="));
  std::string out(token().text);
  const bool is_name = !out.empty() && std::all_of(out.begin(), out.end(), [](char c) { return is_word(c) || c == '-'; });
  if (token().kind != TokenKind::string || (values.size() == 0 ? !is_name : !contains(values, out)))
    return fail("{}", values.size() == 0 ? "a name in quotes" : fmt::format("\"{}\"", fmt::join(values, "\" or \"")));
  lexer_.advance();
  return out;
}

/// What is between the name of a module or function and its body: `attributes {..} {`, or `() <{..}> ({`.
Status Parser::open_region(bool is_generic, Names& names, const ReadAttribute& read) {
  if (is_generic) STREW_TRY(expect("( )"));
  if (is_generic) STREW_TRY(properties(names, read));
  if (!is_generic && accept("attributes")) STREW_TRY(dictionary(names, read));
  return expect(is_generic ? "( {" : "{");
}

/// What is behind the body: `}`, or `}) {..} : () -> ()`.
Status Parser::close_region(bool is_generic, Names& names, const ReadAttribute& read) {
  if (!is_generic) return expect("}");
  STREW_TRY(expect("} )"));
  if (is_at("{")) STREW_TRY(dictionary(names, read));
  return expect(": ( ) -> ( )");
}

}  // namespace strew::inline v0::pto
