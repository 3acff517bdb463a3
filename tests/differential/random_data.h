// Random element values: ordinary ones, whose sums are inexact, and nasty ones (both kinds of NaN, signed zeros, subnormals,
// infinities, the extremes of integers).
#pragma once

#include <cstddef>

#include "strew/op.h"
#include "tests/support/rng.h"

namespace strew::test {

enum class DataMode : uint8_t {
  ordinary,  ///< floats of similar size, any mantissa; integers of any size
  nasty,     ///< one in three is special
  small,     ///< small integers: exact in every order
  bits,      ///< uniform storage bits
};

/// A value of any dtype, movement-only ones included. bool is 0 or 1.
Scalar random_value(Rng& rng, DType dtype, DataMode mode);
/// Fills every element of the tensor (extents and strides known) whose element 0 is at `origin`.
void fill_tensor(Rng& rng, std::byte* origin, const TensorType& type, DataMode mode);

}  // namespace strew::test
