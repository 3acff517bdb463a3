// The names of open extents (Value::symbols): who has one, and what a type looks like with them (type_text, strew/import.h).
#pragma once

#include <string_view>

#include "strew/import.h"

namespace strew::inline v0 {

/// Is `name` the name of an extent? Exporters also write words for "unknown", which several extents have ("?", "None").
bool is_symbol(std::string_view name);

/// Gives open extents of computed values the name of the extent that they always equal: of an operand's dim, of a dim that is only moved.
/// Names that the file gives stay.
void infer_symbols(Program& program);

}  // namespace strew::inline v0
