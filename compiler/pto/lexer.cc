// See lexer.h. The lexer reports no errors: text that is no token becomes a token of kind `bad`, and the parser reports
// what it expected there. Tested by tests/unit/compiler/pto/pto_text_test.cc and tests/error/pto_error_test.cc.
#include "compiler/pto/lexer.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/pto/parse.h"

namespace strew::inline v0::pto {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// The last character of the string that begins at `from`; a string ends with its line at the latest.
size_t string_end(std::string_view text, size_t from) {
  size_t at = from + 1;
  while (at < text.size() && text[at] != '"' && text[at] != '\n')
    at += text[at] == '\\' && text.substr(at + 1, 1) != "\n" ? 2 : 1;
  return at < text.size() && text[at] == '"' ? at : std::min(at, text.size()) - 1;
}

}  // namespace

bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_word_start(c) || is_digit(c) || c == '.' || c == '$'; }

void Lexer::skip_blank() {
  int open = 0;  // parentheses of a location
  for (;; ++at_) {
    while (at_ >= text_.size()) {
      if (outer_.empty()) return;
      text_ = outer_.back().text;
      at_ = outer_.back().at;
      outer_.pop_back();
    }
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      line_begin_ = at_ + 1;
    } else if (text_.substr(at_, 2) == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
    } else if (open > 0) {
      if (c == '"') at_ = string_end(text_, at_);
      open += c == '(' ? 1 : c == ')' ? -1 : 0;
    } else if (is_mlir_ && text_.substr(at_, 4) == "loc(") {
      at_ += 3;
      open = 1;
    } else if (!is_space(c)) {
      return;
    }
  }
}

/// At `!name` or `#name`: reads the definition of an alias, or goes into what an alias stands for. False if the name is no alias.
bool Lexer::alias() {
  size_t end = begin_ + 1;
  while (end < text_.size() && is_word(text_[end])) ++end;
  const std::string_view name = text_.substr(begin_, end - begin_), behind = text_.substr(end);
  const size_t equals = behind.find_first_not_of(" \t\r");
  if (token_.line_start && name.size() > 1 && equals != std::string_view::npos && behind[equals] == '=') {
    const size_t size = std::min(behind.find('\n'), behind.size());
    at_ = end + size;
    if (aliases_.emplace(name, behind.substr(equals + 1, size - equals - 1)).second) return true;
    error_ = fmt::format("alias {} is defined twice, expected once", name);
    return false;
  }
  const auto known = aliases_.find(name);
  if (known == aliases_.end()) return false;
  expanded_ += known->second.size();
  if (expanded_ > kMaxText) {
    error_ = fmt::format("the aliases stand for more than {} bytes, expected at most that", kMaxText);
    return false;
  }
  outer_.push_back({text_, end});
  text_ = known->second;
  at_ = 0;
  return true;
}

TokenKind Lexer::scan() {
  const auto take = [&](TokenKind kind, size_t begin, size_t end, size_t next) {
    token_.text = text_.substr(begin, end - begin);
    at_ = next;
    return kind;
  };
  const auto run = [&](size_t from, auto is) {
    while (from < text_.size() && is(from)) ++from;
    return from;
  };
  const char c = text_[begin_];
  const size_t next = begin_ + 1;
  if (c == '%' || c == '@') {
    const size_t end = run(next, [&](size_t i) {
      return is_word(text_[i]) || (text_[i] == '-' && is_word(text_[i - 1]) && text_.substr(i, 2) != "->");
    });
    return take(end == next ? TokenKind::bad : c == '%' ? TokenKind::value : TokenKind::symbol, next, end, end);
  }
  if (is_word_start(c)) {
    const size_t end = run(next, [&](size_t i) { return is_word(text_[i]); });
    return take(TokenKind::word, begin_, end, end);
  }
  if (is_digit(c) || (c == '-' && next < text_.size() && is_digit(text_[next]))) {
    const size_t end = run(next, [&](size_t i) { return is_digit(text_[i]); });
    return take(TokenKind::number, begin_, end, end);
  }
  if (c == '"') {
    const size_t end = text_.find_first_of("\"\n\\", next);
    const bool is_closed = end != std::string_view::npos && text_[end] == '"';
    return is_closed ? take(TokenKind::string, next, end, end + 1) : take(TokenKind::bad, next, next, next);
  }
  constexpr std::string_view kMarks = "{}()[]<>,:;=!#?.-^*+";
  const size_t end = text_.substr(begin_, 2) == "->" ? begin_ + 2 : next;
  return take(kMarks.find(c) == std::string_view::npos ? TokenKind::bad : TokenKind::mark, begin_, end, end);
}

void Lexer::advance() {
  const int previous = token_.at.line;
  do {
    skip_blank();
    begin_ = at_;
    if (outer_.empty()) token_.at = {line_, static_cast<int>(begin_ - line_begin_) + 1};
    token_.line_start = outer_.empty() && line_ != previous;
  } while (is_mlir_ && error_.empty() && begin_ < text_.size() && (text_[begin_] == '!' || text_[begin_] == '#') && alias());
  token_.text = {};
  token_.kind = !error_.empty() ? TokenKind::bad : begin_ == text_.size() ? TokenKind::end : scan();
}

void Lexer::skip(size_t count) {
  at_ = begin_ + count;
  advance();
}

std::string Lexer::found() const {
  if (token_.kind == TokenKind::end) return "the end of the text";
  std::string out;
  for (const char c : rest().substr(0, 40)) {
    if (static_cast<unsigned char>(c) < 0x20 || (is_space(c) && !out.empty())) break;
    out += static_cast<unsigned char>(c) < 0x7f ? c : '?';
    if (out.size() >= std::max<size_t>(at_ - begin_, 1)) break;
  }
  if (out.empty()) out = fmt::format("\\x{:02x}", static_cast<unsigned char>(rest().front()));
  return "\"" + out + "\"";
}

}  // namespace strew::inline v0::pto
