// Pieces of MLIR's text: strings, locations, and names replaced by others.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>

#include "compiler/import/mlir_text.h"

namespace strew::inline v0 {

/// A string of MLIR with its quotes.
std::string mlir_string(std::string_view text);

/// The text without the locations, loc(...), of operations and arguments.
std::string without_locations(std::string_view text);

/// Calls use(token) for each name between the two places.
template <class Use>
void each_token(const TextIndex& index, size_t begin, size_t end, const Use& use) {
  const auto before = [](const TextToken& token, size_t at) { return token.begin < at; };
  auto token = std::lower_bound(index.tokens.begin(), index.tokens.end(), begin, before);
  for (; token != index.tokens.end() && token->begin < end; ++token) use(*token);
}

/// What stands in the place of a name; empty: it stays.
using NewName = std::function<std::string(const TextToken&)>;

/// Appends text[begin, end) to `out`, with other names. "#1" behind a name is replaced with it.
void append_renamed(std::string& out, std::string_view text, const TextIndex& index, size_t begin, size_t end,
                    const NewName& name);

/// The name of the value where it is defined, with "#1" if it is one of several results. Empty: the text has none for it.
std::string name_in_text(std::string_view text, const TextIndex& index, int value);

}  // namespace strew::inline v0
