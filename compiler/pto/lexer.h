// Lexer of both spellings: words, %names, @names, numbers, strings and punctuation, one token ahead. `//` starts a comment.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "compiler/pto/ast.h"

namespace strew::inline v0::pto {

enum class TokenKind : uint8_t {
  end,     ///< of the text
  word,    ///< scf.for, i32, PIPE_V; letters, digits, _ . $ -, not a digit first
  value,   ///< %name, text without the %
  symbol,  ///< @name, text without the @
  number,  ///< digits, perhaps a minus before
  string,  ///< text without the quotes; no escapes
  mark,    ///< one character, or ->
  bad,     ///< anything else
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  Position at;
  bool line_start = false;  ///< first on its line
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { advance(); }

  const Token& token() const { return token_; }
  void advance();
  /// The characters from the current token's first on; types are not made of tokens (16x64xf32).
  std::string_view rest() const { return text_.substr(begin_); }
  /// Goes on `count` characters after the current token's first. They hold no line break.
  void skip(size_t count);
  /// The rest of the line from the current token on, without white space at its end; the next token is on a later line.
  std::string_view take_line();
  /// The current token as a message quotes it.
  std::string found() const;

 private:
  void skip_blank();
  TokenKind scan(size_t& text_begin, size_t& text_end);

  std::string_view text_;
  size_t at_ = 0;     ///< after the current token
  size_t begin_ = 0;  ///< its first character
  size_t line_begin_ = 0;
  int line_ = 1;
  Token token_;
};

bool is_word_start(char c);
bool is_word(char c);

}  // namespace strew::inline v0::pto
