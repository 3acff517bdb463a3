// place_tiles(): gives every tile an address in the vector core's unified buffer (UB), or in the cube core's L1.
// Tested by tests/golden/pto_program_test.cc.
#pragma once

#include <cstdint>

#include "compiler/pto/ast.h"

namespace strew::inline v0::pto {

/// How many bytes the tiles take in each memory.
struct PlacedBytes {
  int64_t ub = 0, l1 = 0;
};

/// Computes the addresses of all tiles of a function. `write`: also writes them into the statements as `addr` operands,
/// which ptoas' level3 and C++ need; without them ptoas places the tiles itself, and only the sizes are of interest.
PlacedBytes place_tiles(Function& function, bool write);

}  // namespace strew::inline v0::pto
