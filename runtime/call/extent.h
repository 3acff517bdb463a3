// Extent: the range of bytes that a strided tensor occupies. Binding uses it to check addresses and overlap.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "strew/abi.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

constexpr size_t kMaxCallRank = 64;
using StrideBuffer = std::array<int64_t, kMaxCallRank>;

/// The bytes that the elements of a view occupy, relative to its data pointer; `empty` if the view has no elements.
struct Extent {
  int64_t lo = 0, hi = 0;
  bool empty = false;
  bool row_major = false;
};

/// Computes the extent of elements of `bits` bits with these dims and strides (in elements). Returns false if it does not fit 63 bits.
bool measure(int bits, int rank, const int64_t* dims, const int64_t* strides, Extent& out);
/// The extent of a view that was bound to the tensor of `rule`.
Extent extent_of(const strew_tensor_rule& rule, const TensorView& view);

/// Computes row-major strides. Returns false if they do not fit 64 bits.
bool row_major_strides(const int64_t* dims, size_t rank, int64_t* strides);
/// The view's strides. If it has none, the row-major strides of its dims, which are written to `buffer`.
const int64_t* strides_of(const TensorView& view, StrideBuffer& buffer);

/// Elements of a view that was bound, so that their number fits.
inline int64_t elements(const TensorView& view) {
  int64_t count = 1;
  for (int d = 0; d < view.rank; ++d) count *= view.dims[d];
  return count;
}

inline bool is_empty(const int64_t* dims, int rank) {
  for (int d = 0; d < rank; ++d)
    if (dims[d] == 0) return true;
  return false;
}

/// May both views, which have equal dims, be one buffer? They may if equal indices have equal offsets in both.
bool same_layout(const TensorView& a, const TensorView& b);

}  // namespace strew::inline v0
