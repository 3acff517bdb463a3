// See index_space.h. Tested by tests/unit/backends/reference/reference_scatter_test.cc (strides, dims of extent 0, rank 0).
#include "backends/reference/index_space.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace strew::inline v0::reference {

bool is_empty(std::span<const int64_t> extents) {
  return std::ranges::any_of(extents, [](int64_t extent) { return extent <= 0; });
}

bool next(std::span<const int64_t> extents, Coords& coord) {
  for (size_t d = extents.size(); d-- > 0;) {
    if (++coord[d] < extents[d]) return true;
    coord[d] = 0;
  }
  return false;
}

int64_t volume(std::span<const int64_t> extents) {
  return std::reduce(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

int64_t linear(std::span<const int64_t> extents, std::span<const int64_t> coord) {
  int64_t number = 0;
  for (size_t d = 0; d < extents.size(); ++d) number = number * extents[d] + coord[d];
  return number;
}

std::vector<int64_t> row_major(std::span<const int64_t> extents) {
  std::vector<int64_t> strides(extents.size());
  int64_t stride = 1;
  for (size_t d = extents.size(); d-- > 0; stride *= extents[d]) strides[d] = stride;
  return strides;
}

int64_t dot(std::span<const int64_t> coord, std::span<const int64_t> strides) {
  return std::inner_product(coord.begin(), coord.end(), strides.begin(), int64_t{0});
}

BoundTensor::BoundTensor(const TensorView& view)
    : dtype(view.dtype),
      data(view.data),
      dims(view.dims, view.dims + view.rank),
      strides(view.strides == nullptr ? row_major(dims) : std::vector(view.strides, view.strides + view.rank)) {}

}  // namespace strew::inline v0::reference
