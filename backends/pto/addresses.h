// Addresses: where each tile lies in the vector buffer, or in the cube core's L1.
#pragma once

#include <cstdint>

#include "compiler/pto/ast.h"

namespace strew::inline v0::pto {

/// Bytes that tiles take.
struct PlacedBytes {
  int64_t ub = 0, l1 = 0;
};

/// Gives every tile of a function a place. `write`: as `addr` operands, as ptoas' level3 and C++ want them.
PlacedBytes place_tiles(Function& function, bool write);

}  // namespace strew::inline v0::pto
