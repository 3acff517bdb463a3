// Scalar: one element of any dtype as its storage bits. Fill values, literals of expression graphs and test data are Scalars.
//
// Bits, not a double: a signalling NaN, a 64-bit integer and half of a complex128 all survive a round trip through canonical text.
#pragma once

#include <array>
#include <cstdint>

#include "base/dtype.h"

namespace strew {

struct Scalar {
  DType dtype = DType::f32;
  /// Storage bits, low word first; bits past the dtype's width are zero. complex: real part in the low half.
  std::array<uint64_t, 2> bits{0, 0};

  friend bool operator==(const Scalar&, const Scalar&) = default;
};

}  // namespace strew
