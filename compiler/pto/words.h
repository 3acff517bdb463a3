// Small functions on words, which the parser's files share.
#pragma once

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

#include "compiler/pto/lexer.h"

namespace strew::inline v0::pto {

template <class Words, class Word>
bool contains(const Words& words, const Word& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// "a, b, c".
template <class Words>
std::string list_of(const Words& words) {
  std::string out;
  for (const std::string_view word : words) out += (out.empty() ? "" : ", ") + std::string(word);
  return out;
}

/// Sets `out` if all of `text` is an integer that fits.
inline bool parse_integer(std::string_view text, int64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

/// A token that was expected, for messages: a word as it is, a mark in quotes.
inline std::string shown(std::string_view token) {
  return is_word_start(token.front()) ? std::string(token) : "'" + std::string(token) + "'";
}

}  // namespace strew::inline v0::pto
