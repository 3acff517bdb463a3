// Distinct offsets, by peeling. Drop dims of one element. Two rules take a dim away without changing the answer: its stride is larger than
// everything the other dims can span (an outer dim), or it spans less than the greatest common divisor of the others' strides (an inner
// dim of a padded or interleaved layout). What real code makes is peeled completely. For two dims left there is a formula: offsets collide
// when s2/g < n1 and s1/g < n2. More than two that interleave are counted out if small.
// Covered by tests/unit/strides_test.cc, against brute force.
#include "base/strides.h"

#include <algorithm>
#include <numeric>

namespace strew::inline v0 {
namespace {

struct Dim {
  int64_t stride, extent;  ///< both positive, extent > 1
  __int128 span() const { return static_cast<__int128>(stride) * (extent - 1); }
};

/// Removes one dim that cannot matter; false if there is none.
bool peel(std::vector<Dim>& dims) {
  for (size_t i = 0; i < dims.size(); ++i) {
    __int128 others = 0;
    int64_t divisor = 0;
    for (size_t j = 0; j < dims.size(); ++j) {
      if (j == i) continue;
      others += dims[j].span();
      divisor = std::gcd(divisor, dims[j].stride);
    }
    if (dims[i].stride > others || dims[i].span() < divisor) {
      dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
  }
  return false;
}

bool pair_collides(const Dim& a, const Dim& b) {
  const int64_t g = std::gcd(a.stride, b.stride);
  return b.stride / g < a.extent && a.stride / g < b.extent;
}

Distinct count_out(const std::vector<Dim>& dims) {
  constexpr int64_t kMost = int64_t{1} << 20;
  int64_t elements = 1;
  for (const Dim& dim : dims) {
    if (dim.extent > kMost / elements) return Distinct::unknown;
    elements *= dim.extent;
  }
  std::vector<__int128> offsets{0};
  offsets.reserve(static_cast<size_t>(elements));
  for (const Dim& dim : dims) {
    const size_t before = offsets.size();
    for (int64_t i = 1; i < dim.extent; ++i) {
      for (size_t k = 0; k < before; ++k) offsets.push_back(offsets[k] + static_cast<__int128>(dim.stride) * i);
    }
  }
  std::sort(offsets.begin(), offsets.end());
  return std::adjacent_find(offsets.begin(), offsets.end()) == offsets.end() ? Distinct::yes : Distinct::no;
}

}  // namespace

Distinct distinct_offsets(std::span<const int64_t> dims, std::span<const int64_t> strides) {
  std::vector<Dim> rest;
  bool zero_stride = false;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 0) return Distinct::yes;
    if (dims[d] == 1) continue;
    zero_stride = zero_stride || strides[d] == 0;
    rest.push_back({strides[d] < 0 ? -strides[d] : strides[d], dims[d]});
  }
  if (zero_stride) return Distinct::no;
  while (rest.size() > 2 && peel(rest)) {
  }
  for (size_t i = 0; i < rest.size(); ++i) {
    for (size_t j = i + 1; j < rest.size(); ++j) {
      if (pair_collides(rest[i], rest[j])) return Distinct::no;
    }
  }
  return rest.size() <= 2 ? Distinct::yes : count_out(rest);
}

std::vector<int64_t> contiguous_strides(std::span<const int64_t> dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t d = dims.size(); d-- > 1;) strides[d - 1] = strides[d] * std::max<int64_t>(dims[d], 1);
  return strides;
}

}  // namespace strew::inline v0
