// What MLIR's printer adds to PTO IR: aliases of types and attributes (`!tile = !pto.tile_buf<...>`, `#row = #pto<coalesce row>`) and
// locations (`loc(...)`, with --mlir-print-debuginfo). They are taken out before the text is parsed: an alias is replaced by what it stands for,
// and definitions and locations become blanks, so that lines stay where they are. Tested by tests/unit/compiler/pto/pto_text_test.cc.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/pto/ast.h"
#include "strew/status.h"

namespace strew::inline v0::pto {

/// A place where an alias was replaced: the bytes [begin, end) of the new text, and how many more they are than the alias had.
struct Replaced {
  size_t begin = 0, end = 0;
  int more = 0;
};

struct PlainText {
  std::string text;
  std::vector<Replaced> replaced;  ///< in the order of the text
};

/// Fails with a position if an alias is defined twice, or if the text becomes longer than kMaxText.
Expected<PlainText> plain_text(std::string_view text);

}  // namespace strew::inline v0::pto
