// Lexer: splits the text of both spellings into words, %names, @names, numbers, strings and punctuation, and holds the
// current token. `//` starts a comment. Tested by tests/unit/compiler/pto/pto_text_test.cc and tests/error/pto_error_test.cc.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/pto/ast.h"
#include "compiler/pto/plain_text.h"

namespace strew::inline v0::pto {

enum class TokenKind : uint8_t {
  end,     ///< the end of the text
  word,    ///< scf.for, i32, PIPE_V: letters, digits, _ . $, and the first is no digit
  value,   ///< %name, text without the %
  symbol,  ///< @name, text without the @
  number,  ///< digits, perhaps after a minus
  string,  ///< text without the quotes; no escapes
  mark,    ///< one character, or ->
  bad,     ///< anything else
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  Position at;
  bool line_start = false;  ///< it is the first token of its line
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { advance(); }
  /// Columns are those of the text in which nothing was replaced. `plain` must outlive this object.
  explicit Lexer(const PlainText& plain) : text_(plain.text), replaced_(&plain.replaced) { advance(); }

  const Token& token() const { return token_; }
  void advance();
  /// The text from the start of the current token on. Types such as 16x64xf32 are read from it, because they are not
  /// sequences of tokens.
  std::string_view rest() const { return text_.substr(begin_); }
  /// Skips `count` characters from the start of the current token, none of them a line break, and reads the next token.
  void skip(size_t count);
  /// Returns the rest of the line from the current token on, without white space at its end, and reads the first token
  /// of a later line.
  std::string_view take_line();
  /// The current token in quotes, for messages.
  std::string found() const;

 private:
  void skip_blank();
  TokenKind scan(size_t& text_begin, size_t& text_end);
  int column() const;  ///< of the current token

  std::string_view text_;
  const std::vector<Replaced>* replaced_ = nullptr;
  size_t at_ = 0;     ///< the end of the current token
  size_t begin_ = 0;  ///< its start
  size_t line_begin_ = 0;
  int line_ = 1;
  Token token_;
};

bool is_word_start(char c);
bool is_word(char c);

}  // namespace strew::inline v0::pto
