// same_bits: the tests' equality of two elements. Storage bits decide; with `nan_class` any two NaNs of a dtype are equal too (what a
// combiner computed has no particular NaN, semantics.md section 2; what was only moved keeps its bits).
#pragma once

#include <cstdint>

#include "base/number.h"

namespace strew::test {

/// Element `index` of both, counted from `a` and `b` (packed dtypes: from the byte that holds element 0 in its low bits).
inline bool same_bits(DType dtype, const void* a, const void* b, int64_t index, bool nan_class) {
  const Scalar left = load_element(dtype, a, index), right = load_element(dtype, b, index);
  return nan_class ? same_value(left, right) : left.bits == right.bits;
}

}  // namespace strew::test
