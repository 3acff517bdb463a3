// Spliced modules for programs without XLA: the calls of strew become calls of functions, so that strew itself can run the whole.
#pragma once

#include <string>

namespace strew::test {

/// The text with `func.call @strew_partN` in the place of the Nth call, and with the programs of the calls as functions of these names.
std::string with_functions(const std::string& spliced);

/// The bytes of MLIR's string that begins at `begin` with a quote.
std::string unquoted(const std::string& text, size_t begin);

}  // namespace strew::test
