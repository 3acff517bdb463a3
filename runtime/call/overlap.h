// Do two strided byte ranges overlap? Compares their intervals, and then their residues modulo the strides, so that interleaved views count
// as disjoint.
#pragma once

#include <cstdint>

namespace strew::inline v0 {

/// A tensor view as bytes: `rank` dims around `base`, with elements of `element` bytes.
struct StridedBytes {
  uintptr_t base = 0;
  int64_t element = 1;
  int rank = 0;
  const int64_t* dims = nullptr;
  const int64_t* strides = nullptr;  ///< in elements
};

/// Returns true only if no byte belongs to both views. Both views must have elements, and their sizes in bytes must fit 63 bits.
bool disjoint(const StridedBytes& a, const StridedBytes& b);

}  // namespace strew::inline v0
