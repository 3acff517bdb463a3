// verify(): the rules of the chips that a program's text alone can break.
#pragma once

#include <string>

#include "compiler/pto/ast.h"
#include "runtime/status.h"

namespace strew::pto {

/// Tiles, and each mscatter and mgather, by the rules of module.chip; where the text names no chip, what either allows. Errors start
/// with "LINE:COLUMN: ".
Status verify(const Module& module);

/// May `chip` scatter or gather elements of `dtype`, and combine them by `atomic` (none, add, max, min)?
bool moves(Chip chip, DType dtype);
bool combines(Chip chip, std::string_view atomic, DType dtype);
/// The vector buffer, in bytes.
int64_t buffer_bytes(Chip chip);

}  // namespace strew::pto
