// Lexer: splits the text of both spellings into words, %names, @names, numbers, strings and punctuation, and holds the current token. `//`
// starts a comment.
//
// PTO IR also has what MLIR's printer adds: locations, loc(..), which are passed over like comments; and aliases of types and attributes,
// `!tile = !pto.tile_buf<..>` or `#row = #pto<coalesce row>`, each defined in a line of its own. Where an alias is used, the lexer goes on in
// what it stands for and then behind it; the tokens in there are at the position of the use. Tested by
// tests/unit/compiler/pto/pto_text_test.cc and tests/error/pto_error_test.cc.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/pto/ast.h"

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
  Lexer(std::string_view text, Spelling spelling) : text_(text), is_mlir_(spelling == Spelling::ir) { advance(); }

  const Token& token() const { return token_; }
  void advance();
  /// The text from the start of the current token on. Types such as 16x64xf32 are read from it, because they are not
  /// sequences of tokens.
  std::string_view rest() const { return text_.substr(begin_); }
  /// Skips `count` characters from the start of the current token, none of them a line break, and reads the next token.
  void skip(size_t count);
  /// The current token in quotes, for messages.
  std::string found() const;
  /// What is wrong with the aliases, empty if nothing is. The current token is then a bad one.
  const std::string& error() const { return error_; }

 private:
  struct Outer {
    std::string_view text;
    size_t at;
  };
  void skip_blank();
  bool alias();
  TokenKind scan();  ///< takes the text of the token and returns its kind

  std::string_view text_;
  size_t at_ = 0;     ///< the end of the current token
  size_t begin_ = 0;  ///< its start
  size_t line_begin_ = 0;
  int line_ = 1;
  Token token_;
  bool is_mlir_;
  std::map<std::string_view, std::string_view> aliases_;  ///< with `!` or `#`, and what each stands for
  std::vector<Outer> outer_;                              ///< the texts in which the aliases stand that text_ comes from
  size_t expanded_ = 0;                                   ///< the bytes of the aliases that were used
  std::string error_;
};

bool is_word_start(char c);
bool is_word(char c);

}  // namespace strew::inline v0::pto
