// Index spaces: boxes of coordinates [0, extents) visited in row-major order, and strided tensors addressed by
// coordinates. Tested by tests/unit/backends/reference/reference_scatter_test.cc (strides, dims of extent 0, rank 0).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/number.h"
#include "strew/tensor_view.h"

namespace strew::inline v0::reference {

using Coords = std::vector<int64_t>;

/// Has the box no coordinate, because an extent is 0? A box without dims has one coordinate.
bool is_empty(std::span<const int64_t> extents);
/// Steps `coord` to its row-major successor. After the last coordinate it returns false, and every entry is 0 again.
bool next(std::span<const int64_t> extents, Coords& coord);
/// The number of coordinates.
int64_t volume(std::span<const int64_t> extents);
/// The row-major number of a coordinate.
int64_t linear(std::span<const int64_t> extents, std::span<const int64_t> coord);
/// The strides of a tensor without gaps.
std::vector<int64_t> row_major(std::span<const int64_t> extents);
int64_t dot(std::span<const int64_t> coord, std::span<const int64_t> strides);

/// A tensor of the caller. `strides` are in elements; a view without strides is contiguous and row-major.
struct BoundTensor {
  DType dtype = DType::f32;
  void* data = nullptr;
  std::vector<int64_t> dims, strides;

  explicit BoundTensor(const TensorView& view);
  Scalar load(int64_t offset) const { return load_element(dtype, data, offset); }
  void store(int64_t offset, const Scalar& value) const { store_element(dtype, data, offset, value); }
};

}  // namespace strew::inline v0::reference
