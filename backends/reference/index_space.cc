// See index_space.h. Tested by tests/unit/backends/reference/reference_scatter_test.cc (strides, dims of extent 0, rank 0).
#include "backends/reference/index_space.h"

namespace strew::inline v0::reference {

bool is_empty(std::span<const int64_t> extents) {
  for (const int64_t extent : extents)
    if (extent <= 0) return true;
  return false;
}

bool next(std::span<const int64_t> extents, Coords& coord) {
  for (size_t d = extents.size(); d-- > 0;) {
    if (++coord[d] < extents[d]) return true;
    coord[d] = 0;
  }
  return false;
}

int64_t volume(std::span<const int64_t> extents) {
  int64_t product = 1;
  for (const int64_t extent : extents) product *= extent;
  return product;
}

int64_t linear(std::span<const int64_t> extents, std::span<const int64_t> coord) {
  int64_t number = 0;
  for (size_t d = 0; d < extents.size(); ++d) number = number * extents[d] + coord[d];
  return number;
}

int64_t dot(std::span<const int64_t> coord, std::span<const int64_t> strides) {
  int64_t offset = 0;
  for (size_t d = 0; d < coord.size(); ++d) offset += coord[d] * strides[d];
  return offset;
}

BoundTensor::BoundTensor(const TensorView& view) : dtype(view.dtype), data(view.data), dims(view.dims, view.dims + view.rank) {
  if (view.strides != nullptr) {
    strides.assign(view.strides, view.strides + view.rank);
    return;
  }
  strides.resize(dims.size());
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= dims[d];
  }
}

}  // namespace strew::inline v0::reference
