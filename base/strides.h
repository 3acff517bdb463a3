// distinct_offsets: are all elements of a strided tensor at different addresses? Tested by
// tests/unit/base/strides_test.cc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace strew::inline v0 {

enum class Distinct : uint8_t { yes, no, unknown };

/// Do all i with 0 <= i[d] < dims[d] have different offsets sum(i[d] * strides[d])? The answer is exact for layouts
/// of nested dims, for any two dims that are left after those, and for more dims that have up to 2^20 elements
/// together. Otherwise it is `unknown`.
Distinct distinct_offsets(std::span<const int64_t> dims, std::span<const int64_t> strides);

/// Strides of a contiguous row-major tensor, in elements. `dims` are static and their product fits. A stride that does not fit, which only a tensor
/// without elements has, is 0: nothing is ever read with it.
std::vector<int64_t> contiguous_strides(std::span<const int64_t> dims);

}  // namespace strew::inline v0
