// Small functions on words, which the parser's files share.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

#include "base/nearest.h"
#include "compiler/pto/lexer.h"

namespace strew::inline v0::pto {

template <class Words, class Word>
bool contains(const Words& words, const Word& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// "a, b, c".
template <class Words>
std::string list_of(const Words& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

/// "; did you mean WORD?" with the nearest of the words; empty if none is near.
template <class Words>
std::string did_you_mean(std::string_view written, const Words& words) {
  const std::string_view near = nearest(written, words);
  return near.empty() ? "" : fmt::format("; did you mean {}?", near);
}

/// Sets `out` if all of `text` is an integer that fits.
inline bool parse_integer(std::string_view text, int64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

/// A token that was expected, for messages: a word as it is, a mark in quotes.
inline std::string shown(std::string_view token) {
  const bool as_it_is = is_word_start(token.front()) || token.starts_with('"');
  return fmt::format(fmt::runtime(as_it_is ? "{}" : "'{}'"), token);
}

}  // namespace strew::inline v0::pto
