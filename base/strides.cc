// See strides.h. First, dims of one element are dropped. Then dims are removed one by one that cannot change the
// answer: those whose stride is larger than the span of all other dims together (an outer dim), and those whose span
// is less than the greatest common divisor of the other strides (an inner dim of a padded or interleaved layout).
// This removes all dims of the layouts that programs use. For two dims that are left there is a formula: offsets are
// equal somewhere if s2/g < n1 and s1/g < n2, with strides s, extents n and g = gcd(s1, s2). For more than two, all
// offsets are computed and compared, if they are few. Tested by tests/unit/base/strides_test.cc, against brute force.
#include "base/strides.h"

#include <algorithm>
#include <numeric>

#include "base/checked.h"

namespace strew::inline v0 {
namespace {

struct Dim {
  int64_t stride, extent;  ///< both positive, extent > 1
  __int128 span() const { return static_cast<__int128>(stride) * (extent - 1); }
};

/// Removes one dim that cannot change the answer; returns false if there is none.
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
  for (size_t d = dims.size(); d-- > 1;) strides[d - 1] = checked::mul(strides[d], std::max<int64_t>(dims[d], 1)).value_or(0);
  return strides;
}

}  // namespace strew::inline v0
