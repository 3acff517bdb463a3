// See text_piece.h. Tested by tests/unit/compiler/pto/pto_text_test.cc.
#include "compiler/pto/text_piece.h"

#include <algorithm>

#include "compiler/pto/lexer.h"

namespace strew::inline v0::pto {

Piece next_piece(std::string_view& text) {
  constexpr std::string_view kMarkers = "$#&@%~^|";
  const auto take = [&](PieceKind kind, size_t begin, size_t end, size_t next) {
    const Piece out{kind, text.substr(begin, end - begin)};
    text.remove_prefix(next);
    return out;
  };
  const char first = text.front();
  const size_t end = std::min(text.find_first_not_of("0123456789r*+?", 1), text.size());
  const bool is_hash = first == '#' && end == 1;  // a mark
  if (first == ' ') return take(PieceKind::blank, 0, 1, 1);
  if (first == '|') return take(PieceKind::optional, 1, text.find('|', 1), text.find('|', 1) + 1);
  if (kMarkers.find(first) != std::string_view::npos && !is_hash) return take(static_cast<PieceKind>(first), 1, end, end);
  const auto stop = std::find_if_not(text.begin(), text.end(), is_word);
  const size_t length = text.starts_with("->") ? 2 : std::max<size_t>(1, static_cast<size_t>(stop - text.begin()));
  return take(PieceKind::token, 0, length, length);
}

}  // namespace strew::inline v0::pto
