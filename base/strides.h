// Strided tensors: are all elements at different addresses, and where are they, one after the other? Tested by
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

/// Walks over the elements of a box in row-major order: for (Walk walk(dims, strides); …; walk.next()).
class Walk {
 public:
  /// Without strides, offsets are 0. Both must outlive the walk.
  explicit Walk(std::span<const int64_t> dims, std::span<const int64_t> strides = {})
      : dims_(dims), strides_(strides), at_(dims.size()) {}

  const std::vector<int64_t>& at() const { return at_; }  ///< the coordinates
  int64_t offset() const { return offset_; }              ///< the sum of at()[d] * strides[d]
  /// Behind the last element comes the first.
  void next() {
    for (size_t d = dims_.size(); d-- > 0;) {
      const int64_t stride = strides_.empty() ? 0 : strides_[d];
      offset_ += stride;
      if (++at_[d] < dims_[d]) return;
      offset_ -= stride * dims_[d];
      at_[d] = 0;
    }
  }

 private:
  std::span<const int64_t> dims_, strides_;
  std::vector<int64_t> at_;
  int64_t offset_ = 0;
};

}  // namespace strew::inline v0
