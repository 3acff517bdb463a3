// Parser: reads both spellings. parser.cc has tokens, attributes and values in scope; parse_types.cc types; parse_statement.cc statements, by
// the text of their rows in instructions.cc and in generic form; parse_ir.cc and parse_as.cc what is around statements; check_types.cc the
// checks of types. Tested by tests/unit/compiler/pto/pto_text_test.cc and tests/error/pto_error_test.cc.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/pto/ast.h"
#include "compiler/pto/instructions.h"
#include "compiler/pto/lexer.h"
#include "compiler/pto/types.h"
#include "strew/export.h"
#include "strew/status.h"

namespace strew::inline v0::pto {

/// A failure whose message starts with the position, "3:17: ".
STREW_API Status error_at(Position at, const std::string& message);

class Parser {
 public:
  Parser(std::string_view text, Spelling spelling) : lexer_(text, spelling), spelling_(spelling) {}
  Expected<Module> run() { return spelling_ == Spelling::ir ? module() : lines(); }

 private:
  /// A value in scope.
  struct Known {
    Type type;
    std::optional<int64_t> constant;
    Position at;
  };
  using Names = std::vector<std::string>;
  using Words = std::span<const std::string_view>;
  /// What reads an attribute behind its name. The position is that of the name.
  using ReadAttribute = std::function<Status(const std::string& name, Position at)>;

  // parser.cc: tokens. `text` is a mark, a word or a string in its quotes.
  const Token& token() const { return lexer_.token(); }
  bool is_at(std::string_view text) const;
  bool accept(std::string_view text);
  /// A failure at the current token: what was found and what was expected. The message names the statement that is
  /// being parsed.
  template <class... Args>
  Status fail(fmt::format_string<Args...> expected, Args&&... args) const {
    return fail_at(token().at, "found {}, expected {}", lexer_.found(), fmt::format(expected, std::forward<Args>(args)...));
  }
  template <class... Args>
  Status fail_at(Position at, fmt::format_string<Args...> message, Args&&... args) const {
    return failure(at, fmt::format(message, std::forward<Args>(args)...));
  }
  Status failure(Position at, const std::string& message) const;
  /// Reads `tokens`, which have spaces between them. The message says what was expected: `what`, if it is given, or the token.
  Status expect(std::string_view tokens, const std::string& what = "");
  Expected<int64_t> number(const std::string& what);
  Status one_of(Words words, std::string& into, const std::string& name);

  // Attributes: `{NAME .., NAME ..}`. `names` has the names that were read already.
  Status dictionary(Names& names, const ReadAttribute& read);
  Status unknown_attribute(const std::string& name, Position at, const std::vector<std::string_view>& known) const;
  Status attribute_value(const AttributeRule& rule, std::string& into);
  Status statement_attribute(const std::string& name, Position at, Statement& s);

  // Values.
  Expected<std::string> new_name(const char* what);
  Status define(const std::string& name, Type type, Position at, std::optional<int64_t> constant = {});
  Status use(std::string& name);  ///< parses %name, a value in scope
  const Known& known(const std::string& name) const { return known_.at(name); }
  const Type& type_of(const std::string& name) const { return known(name).type; }
  size_t scope() const { return order_.size(); }
  void leave_scope(size_t scope);
  Status argument(Function& function);

  // parse_types.cc
  Expected<Type> type();
  Status expect_type(const Type& wanted, const std::string& of);
  Expected<Element> element(bool bare);
  Expected<std::vector<int64_t>> extents(size_t most, bool before_element);
  Status valid_extents(Type& type);
  Status pto_type(std::string_view name, Type& type);
  Status tile_type(Type& type);
  Status short_tile(Type& type);
  Status tile_extents(const Type& type) const;
  Status tile_field(const std::string& key, Type& type);
  std::string text(const Type& type) const { return print(type, spelling_); }

  // parse_statement.cc
  Expected<Statement> statement(int depth);
  /// Parses statements up to `}` or the terminator of the region; does not consume that token.
  Status body(std::vector<Statement>& out, int depth);
  Status by_text(std::string_view text, Statement& s, int depth);
  Status operands(std::string_view groups, Statement& s);
  Status operand(const Statement& s, size_t group, std::string& into);
  Status types(std::string_view groups, Statement& s);
  Status constant(Statement& s);
  Status region(std::vector<Statement>& into, Statement& s, int depth, bool is_generic);
  void complete(Statement& s) const;
  Status check_named(const Statement& s, bool gives) const;
  Status define_result(const Statement& s);
  Status generic(Statement& s, int depth);
  Status properties(Names& names, const ReadAttribute& read);
  Status generic_attributes(Names& names, const ReadAttribute& read);
  Status generic_attribute(const std::string& name, Position at, std::vector<int64_t>& segments, Statement& s);
  Status segment_sizes(std::vector<int64_t>& segments);
  Status split_operands(const Names& names, const std::vector<int64_t>& segments, Statement& s);
  Status generic_types(Statement& s);
  Status block_name();
  /// `(A, B, C)`, each of which `read` reads.
  template <class Read>
  Status listed(Read read) {
    STREW_TRY(expect("("));
    while (!is_at(")")) {
      STREW_TRY(read());
      if (!is_at(")")) STREW_TRY(expect(","));
    }
    return expect(")");
  }

  // parse_ir.cc
  struct Signature;
  Expected<Module> module();
  Status module_attribute(const std::string& name, Position at, bool is_generic, Module& module);
  Expected<Function> function();
  Status function_attribute(const std::string& name, Position at, Signature* signature, Function& function);
  Status function_type(Signature& signature);
  Status arguments(Function& function);
  Expected<std::string> string_value(std::initializer_list<std::string_view> values);
  Status open_region(bool is_generic, Names& names, const ReadAttribute& read);
  Status close_region(bool is_generic, Names& names, const ReadAttribute& read);

  // parse_as.cc
  Expected<Module> lines();
  Status line(Function& function);
  Status instruction(Statement& s);
  Status suffixes(std::string_view text, Statement& s);

  // check_types.cc: checks of the types of operands and results.
  Status check_types(const Statement& s) const;
  Status check_kind(Kind kind, const std::string& operand, Position at) const;
  Status check_scalars(const Statement& s) const;
  Status check_cast(const Statement& s) const;
  Status check_result(const Statement& s, bool fits, const std::string& expected) const;
  Status check_view(const Statement& s) const;
  Status check_alloc(const Statement& s) const;
  Status check_elements(const Statement& s) const;
  Status check_equal(const Statement& s, size_t first_group, const Type& wanted) const;

  Lexer lexer_;
  Spelling spelling_;
  std::string statement_;  ///< the statement that messages name; empty: none
  Position variable_;      ///< where the variable of the last loop stands
  std::unordered_map<std::string, Known> known_;
  std::vector<std::string> order_;
};

}  // namespace strew::inline v0::pto
