// Where the parts of a parsed module's text stand (compiler/import/mlir_text.h).
#pragma once

#include <string_view>

#include "compiler/import/mlir_text.h"

namespace strew::inline v0 {

class ParsedModule;
/// `text` is what `parsed` was parsed from.
TextIndex index_text(const ParsedModule& parsed, std::string_view text);

}  // namespace strew::inline v0
