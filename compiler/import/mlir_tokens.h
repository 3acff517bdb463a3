// Names in MLIR's text: %value, @function, #attribute and !type, outside of strings and comments.
#pragma once

#include <cstddef>
#include <string_view>

namespace strew::inline v0 {

inline bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '.' ||
         c == '-';
}

/// Where the name ends that begins at `begin` with one of % @ # !: digits alone, or letters, digits and _ $ . -
inline size_t end_of_name(std::string_view text, size_t begin) {
  size_t at = begin + 1;
  const auto is_digit = [&](size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  if (is_digit(at)) {
    while (is_digit(at)) ++at;
    return at;
  }
  while (at < text.size() && is_name_char(text[at])) ++at;
  return at;
}

/// Where the string ends that begins at `begin` with a quote.
inline size_t end_of_string(std::string_view text, size_t begin) {
  size_t at = begin + 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return at < text.size() ? at + 1 : text.size();
}

/// Where what begins at `at` ends if it is a string or a comment; else `at`.
inline size_t skip_quiet(std::string_view text, size_t at) {
  if (text[at] == '"') return end_of_string(text, at);
  if (text.substr(at, 2) != "//") return at;
  const size_t end = text.find('\n', at);
  return end == std::string_view::npos ? text.size() : end;
}

/// Calls use(begin, end) for each name that begins with `mark`.
template <class Use>
void each_name(std::string_view text, char mark, const Use& use) {
  for (size_t at = 0; at < text.size();) {
    const size_t behind = skip_quiet(text, at);
    if (behind != at) {
      at = behind;
    } else if (text[at] != mark) {
      ++at;
    } else {
      const size_t end = text.substr(at + 1, 1) == "\"" ? end_of_string(text, at + 1) : end_of_name(text, at);
      if (end > at + 1) use(at, end);
      at = end > at + 1 ? end : at + 1;
    }
  }
}

}  // namespace strew::inline v0
