// See lexer.h. The lexer reports no errors: text that is no token becomes a token of kind `bad`, and the parser reports
// what it expected there. Tested by tests/unit/compiler/pto/pto_text_test.cc and tests/error/pto_error_test.cc.
#include "compiler/pto/lexer.h"

#include <algorithm>

namespace strew::inline v0::pto {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_word_start(c) || is_digit(c) || c == '.' || c == '$'; }

void Lexer::skip_blank() {
  while (at_ < text_.size()) {
    if (text_[at_] == '\n') {
      ++line_;
      line_begin_ = at_ + 1;
    } else if (text_.substr(at_, 2) == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size());
      continue;
    } else if (!is_space(text_[at_])) {
      return;
    }
    ++at_;
  }
}

TokenKind Lexer::scan(size_t& text_begin, size_t& text_end) {
  const auto run = [&](size_t from) {
    while (from < text_.size() && (is_word(text_[from]) ||
                                   (text_[from] == '-' && from > 0 && is_word(text_[from - 1]) && text_.substr(from, 2) != "->")))
      ++from;
    return from;
  };
  const char c = text_[begin_];
  text_begin = begin_;
  if (c == '%' || c == '@') {
    text_begin = begin_ + 1;
    text_end = run(text_begin);
    at_ = text_end;
    if (text_end == text_begin) return TokenKind::bad;
    return c == '%' ? TokenKind::value : TokenKind::symbol;
  }
  if (is_word_start(c)) {
    text_end = begin_ + 1;
    while (text_end < text_.size() && is_word(text_[text_end])) ++text_end;
    at_ = text_end;
    return TokenKind::word;
  }
  const bool negative = c == '-' && begin_ + 1 < text_.size() && is_digit(text_[begin_ + 1]);
  if (is_digit(c) || negative) {
    text_end = begin_ + 1;
    while (text_end < text_.size() && is_digit(text_[text_end])) ++text_end;
    at_ = text_end;
    return TokenKind::number;
  }
  if (c == '"') {
    text_begin = begin_ + 1;
    text_end = text_.find_first_of("\"\n\\", text_begin);
    const bool closed = text_end != std::string_view::npos && text_[text_end] == '"';
    if (!closed) {
      text_end = at_ = begin_ + 1;
      return TokenKind::bad;
    }
    at_ = text_end + 1;
    return TokenKind::string;
  }
  at_ = text_end = begin_ + (text_.substr(begin_, 2) == "->" ? 2 : 1);
  constexpr std::string_view kMarks = "{}()[]<>,:;=!#?.-^*+";
  return kMarks.find(c) == std::string_view::npos ? TokenKind::bad : TokenKind::mark;
}

int Lexer::column() const {
  size_t begin = begin_;
  int more = 0;
  if (replaced_ != nullptr) {
    const auto is_before = [](const Replaced& r, size_t place) { return r.begin < place; };
    for (auto it = std::lower_bound(replaced_->begin(), replaced_->end(), line_begin_, is_before);
         it != replaced_->end() && it->begin <= begin_; ++it) {
      if (begin_ < it->end) begin = it->begin;  // within what an alias stands for
      if (begin_ >= it->end) more += it->more;
    }
  }
  return static_cast<int>(begin - line_begin_) - more + 1;
}

void Lexer::advance() {
  const size_t previous_line = line_begin_;
  const bool first = begin_ == 0 && at_ == 0;
  skip_blank();
  begin_ = at_;
  token_.line_start = first || line_begin_ != previous_line;
  token_.at = {line_, column()};
  if (begin_ == text_.size()) {
    token_.kind = TokenKind::end;
    token_.text = {};
    return;
  }
  size_t from = 0, to = 0;
  token_.kind = scan(from, to);
  token_.text = text_.substr(from, to - from);
}

void Lexer::skip(size_t count) {
  at_ = begin_ + count;
  advance();
}

std::string_view Lexer::take_line() {
  std::string_view line = rest().substr(0, rest().find('\n'));
  line = line.substr(0, line.find("//"));
  at_ = begin_ + line.size();
  while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
  advance();
  return line;
}

std::string Lexer::found() const {
  if (token_.kind == TokenKind::end) return "the end of the text";
  std::string out;
  for (const char c : rest().substr(0, 40)) {
    if (static_cast<unsigned char>(c) < 0x20 || (is_space(c) && !out.empty())) break;
    out += static_cast<unsigned char>(c) < 0x7f ? c : '?';
    if (out.size() >= std::max<size_t>(at_ - begin_, 1)) break;
  }
  if (out.empty()) {
    constexpr char kHex[] = "0123456789abcdef";
    const auto u = static_cast<unsigned char>(rest().front());
    out = {'\\', 'x', kHex[u >> 4], kHex[u & 15]};
  }
  return "\"" + out + "\"";
}

}  // namespace strew::inline v0::pto
