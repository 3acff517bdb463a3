// Addresses: where each tile lies in the vector buffer.
#pragma once

#include <cstdint>

#include "compiler/pto/ast.h"

namespace strew::pto {

/// Gives every tile of a function a place; returns the bytes used. `write`: as `addr` operands, as ptoas' level3 and C++ want them.
int64_t place_tiles(Function& function, bool write);

}  // namespace strew::pto
