// Parser: the common part of the parsers of both spellings: tokens, types, attributes, and the values in scope.
// Tested by tests/unit/compiler/pto/pto_text_test.cc and tests/error/pto_error_test.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/pto/ast.h"
#include "compiler/pto/instructions.h"
#include "compiler/pto/lexer.h"
#include "strew/export.h"
#include "strew/status.h"

namespace strew::inline v0::pto {

/// A failure whose message starts with the position, "3:17: ".
STREW_API Status error_at(Position at, const std::string& message);

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}
  explicit Parser(const PlainText& plain) : lexer_(plain) {}

 protected:
  /// A value in scope.
  struct Known {
    Type type;
    std::optional<int64_t> constant;
    Position at;
  };
  using Names = std::vector<std::string>;

  const Token& token() const { return lexer_.token(); }
  bool at_mark(std::string_view mark) const { return token().kind == TokenKind::mark && token().text == mark; }
  bool at_string(std::string_view text) const { return token().kind == TokenKind::string && token().text == text; }
  bool at_word(std::string_view word) const { return token().kind == TokenKind::word && token().text == word; }
  bool accept_mark(std::string_view mark);
  bool accept_word(std::string_view word);
  /// A failure at the current token: what was found and what was expected. The message names the statement that is
  /// being parsed.
  Status fail(const std::string& expected) const;
  Status fail_at(Position at, const std::string& message) const;
  Status expect_mark(std::string_view mark);
  Status expect_word(std::string_view word);
  Expected<int64_t> number(const char* what);

  // Types.
  Expected<Type> type();
  Status expect_type(const Type& wanted, const std::string& of);

  // Attributes: what stands in `{a = #pto<family word>, ..}`, or in `<{..}>` with operandSegmentSizes. They are added to
  // `out`, which is in the order of the instruction's row.
  Status attributes(const Instruction& row, std::vector<int64_t>* segments, std::vector<Attribute>& out);

  // Values.
  Status define(const std::string& name, Type type, Position at, std::optional<int64_t> constant = {});
  Expected<const Known*> use(std::string& name);  ///< parses %name, a value in scope
  const Known& known(const std::string& name) const { return known_.at(name); }
  size_t scope() const { return order_.size(); }
  void leave_scope(size_t scope);

  std::string statement_;  ///< the statement that messages name; empty: none

 private:
  Expected<Element> element(bool bare);
  Expected<std::vector<int64_t>> dims(Element& element, size_t most);
  Status pto_type(std::string_view name, Type& type);
  Status tile_type(Type& type);
  Status tile_extents(const Type& type) const;
  Status tile_field(const std::string& key, Type& type, std::vector<std::string>& seen);
  Expected<int64_t> extent(const char* what);
  Expected<std::vector<int64_t>> valid_extents();
  Status attribute_value(const AttributeRule& rule, Attribute& attribute);
  Status segment_sizes(std::vector<int64_t>& segments);

  Lexer lexer_;
  std::unordered_map<std::string, Known> known_;
  std::vector<std::string> order_;

 protected:
  Lexer& lexer() { return lexer_; }
};

Expected<Module> parse_ir(std::string_view text);
Expected<Module> parse_as(std::string_view text);

}  // namespace strew::inline v0::pto
