// Extent: which bytes a strided tensor touches. Binding checks addresses and overlap with it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/tensor_view.h"
#include "strew/abi.h"

namespace strew {

constexpr size_t kMaxCallRank = 64;
using StrideBuffer = std::array<int64_t, kMaxCallRank>;

/// Bytes that a view's elements occupy, relative to its data pointer; none of an empty view.
struct Extent {
  int64_t lo = 0, hi = 0;
  bool empty = false;
  bool row_major = false;
};

/// The bytes of elements of `bits` bits at these dims and strides (in elements). False: they do not fit 63 bits.
bool measure(int bits, int rank, const int64_t* dims, const int64_t* strides, Extent& out);
/// Of a view that was bound to this tensor.
Extent extent_of(const strew_tensor_rule& rule, const TensorView& view);

/// Row-major strides; false when they do not fit (then some extent is absurd).
bool row_major_strides(const int64_t* dims, size_t rank, int64_t* strides);
/// The view's strides, or in `buffer` those of its dims.
const int64_t* strides_of(const TensorView& view, StrideBuffer& buffer);

inline bool is_empty(const int64_t* dims, int rank) {
  for (int d = 0; d < rank; ++d)
    if (dims[d] == 0) return true;
  return false;
}

/// One buffer may be both, element on element. Of views of equal dims.
bool same_layout(const TensorView& a, const TensorView& b);

}  // namespace strew
