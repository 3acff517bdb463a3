// Random element values: ordinary ones, whose sums are inexact, and special ones (quiet and signalling NaNs, signed
// zeros, subnormals, infinities, the extremes of integers). Tested by tests/unit/differential/differential_test.cc.
#pragma once

#include <cstddef>

#include "strew/op.h"
#include "tests/support/rng.h"

namespace strew::test {

enum class DataMode : uint8_t {
  ordinary,  ///< floats of similar size, any mantissa; integers of any size
  nasty,     ///< one value in three is a special one
  small,     ///< small integers, whose sums are exact in every order
  bits,      ///< uniformly distributed bits
};

/// A value of any dtype, including those that can only be moved. bool is 0 or 1.
Scalar random_value(Rng& rng, DType dtype, DataMode mode);
/// Fills every element of a tensor whose extents and strides are known and whose element 0 is at `origin`.
void fill_tensor(Rng& rng, std::byte* origin, const TensorType& type, DataMode mode);

}  // namespace strew::test
