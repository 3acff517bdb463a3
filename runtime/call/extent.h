// Extent: the range of bytes that a strided tensor occupies. Binding uses it to check addresses and overlap.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

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

  uintptr_t begin(const void* data) const { return reinterpret_cast<uintptr_t>(data) + static_cast<uintptr_t>(lo); }
  uintptr_t end(const void* data) const { return reinterpret_cast<uintptr_t>(data) + static_cast<uintptr_t>(hi); }
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

// Do two strided byte ranges overlap? And do calls of a batch touch memory that another of them writes? Tested by
// tests/unit/runtime/call/bind_test.cc and run_many_test.cc.

/// A tensor view as bytes: `rank` dims around `base`, with elements of `element` bytes.
struct StridedBytes {
  uintptr_t base = 0;
  int64_t element = 1;
  int rank = 0;
  const int64_t* dims = nullptr;
  const int64_t* strides = nullptr;  ///< in elements
};

/// Returns true only if no byte belongs to both views. Compares their intervals, and then their residues modulo the strides, so that interleaved
/// views count as disjoint. Both views must have elements, and their sizes in bytes must fit 63 bits.
bool disjoint(const StridedBytes& a, const StridedBytes& b);

/// The bytes [begin, end) that call `call` reads or writes as its tensor `tensor`.
struct CallBytes {
  uintptr_t begin = 0, end = 0;
  uint32_t call = 0, tensor = 0;
};

struct CallOverlap {
  CallBytes write, other;
};

/// A write and another call's read or write that overlap, if there are any. Sorts the lists unless they are sorted already,
/// as those of buffers that were allocated one after another often are.
std::optional<CallOverlap> find_overlap(std::vector<CallBytes>& writes, std::vector<CallBytes>& reads);

}  // namespace strew::inline v0
