// parse(): the text of a `.pto` file as a tree; parse(print(m)) == m.
#pragma once

#include <string_view>

#include "compiler/pto/ast.h"
#include "strew/status.h"

namespace strew::inline v0::pto {

inline constexpr size_t kMaxText = size_t{1} << 20;
inline constexpr int kMaxNesting = 32;  ///< loops and sections in one another
inline constexpr size_t kMaxArguments = 64, kMaxFunctions = 256;

/// Both spellings: text whose first token is `module` or `func.func` is PTO IR, everything else PTO-AS. Every use of a value agrees with
/// its definition, every attribute is known. Errors start with "LINE:COLUMN: ", name the statement, what stands there and what was
/// expected. Rules of the chips are verify.h's.
Expected<Module> parse(std::string_view text);

}  // namespace strew::inline v0::pto
