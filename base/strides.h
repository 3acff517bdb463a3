// Strides: are all elements of a strided tensor at different addresses?
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace strew::inline v0 {

enum class Distinct : uint8_t { yes, no, unknown };

/// Whether sum(i[d] * strides[d]) differs for all i with 0 <= i[d] < dims[d]. Exact for every layout that splits into nested dims,
/// for any two dims, and for whatever has up to 2^20 elements beyond those; `unknown` otherwise.
Distinct distinct_offsets(std::span<const int64_t> dims, std::span<const int64_t> strides);

/// Strides of a contiguous row-major tensor, in elements. `dims` are static and their product fits.
std::vector<int64_t> contiguous_strides(std::span<const int64_t> dims);

}  // namespace strew::inline v0
