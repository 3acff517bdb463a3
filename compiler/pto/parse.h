// parse(): parses the text of a `.pto` file; parse(print(m)) == m.
// Tested by tests/unit/compiler/pto/pto_text_test.cc and tests/error/pto_error_test.cc.
#pragma once

#include <string_view>

#include "compiler/pto/ast.h"
#include "strew/status.h"

namespace strew::inline v0::pto {

inline constexpr size_t kMaxText = size_t{1} << 20;
inline constexpr int kMaxNesting = 32;  ///< the depth of nested loops, branches and sections
inline constexpr size_t kMaxArguments = 64, kMaxFunctions = 256;

/// Parses both spellings: text whose first token is `module`, `func.func` or a string is PTO IR, all other text PTO-AS. Checks
/// that every use of a value agrees with its definition and that every attribute is known; verify() checks the rules of
/// the chips. Error messages start with "LINE:COLUMN: " and name the statement, what was found and what was expected.
Expected<Module> parse(std::string_view text);

}  // namespace strew::inline v0::pto
