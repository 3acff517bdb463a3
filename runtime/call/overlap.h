// Overlap of two strided byte ranges: the exact interval test, then a modular test so that interleaved views pass.
#pragma once

#include <cstdint>

namespace strew {

/// A view as bytes: `rank` dims of extents and byte strides around `base`, each element `element` bytes wide.
struct StridedBytes {
  uintptr_t base = 0;
  int64_t element = 1;
  int rank = 0;
  const int64_t* dims = nullptr;
  const int64_t* strides = nullptr;  ///< in elements
};

/// True only when no byte belongs to both. Both are non-empty and their extents fit 63 bits.
bool disjoint(const StridedBytes& a, const StridedBytes& b);

}  // namespace strew
