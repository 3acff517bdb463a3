// Layouts: files of the command line are contiguous, but the tensors of an op need not be. Elements are copied one by
// one, since the speed of this code does not matter. Gaps between elements are filled with 0xA5, so a kernel that reads
// them gives visibly wrong bits.
//
// If any stride of a type is dynamic, the tensor is laid out contiguously. Tested by tests/unit/compiler/program/program_test.cc.
#include "compiler/program/strided.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/checked.h"
#include "base/strides.h"
#include "compiler/op/message.h"

namespace strew::inline v0 {
namespace {

/// The lowest and highest element offset of a layout; fails if they do not fit.
Status extent_of(const std::vector<int64_t>& dims, const std::vector<int64_t>& strides, int64_t& low, int64_t& high) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 256;
  low = high = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 0) {
      low = high = 0;
      return {};
    }
    const int64_t size = strides[d] < 0 ? -(strides[d] + 1) : strides[d];
    if (size >= kMost || (size > 0 && dims[d] - 1 > kMost / (size + 1))) {
      return invalid_argument("dim {} has stride {}: the layout does not fit 63 bits", d, strides[d]);
    }
    (strides[d] < 0 ? low : high) += strides[d] * (dims[d] - 1);
    if (high > kMost || low < -kMost) return invalid_argument("the layout does not fit 63 bits");
  }
  return {};
}

/// Calls f(number of the element, its offset in the layout) for every element, in row-major order.
template <class F>
void for_each_element(const std::vector<int64_t>& dims, const std::vector<int64_t>& strides, F f) {
  const int64_t count = checked::product(dims).value_or(0);  // it fits: the tensor is in memory
  Walk walk(dims, strides);
  for (int64_t i = 0; i < count; ++i, walk.next()) f(i, walk.offset());
}

}  // namespace

void copy_elements(DType dtype, int64_t count, const std::byte* from, int64_t from_at, std::byte* to, int64_t to_at) {
  const int width = bits(dtype);
  if (width % 8 == 0) {
    const int64_t each = width / 8;
    std::memmove(to + to_at * each, from + from_at * each, static_cast<size_t>(count * each));
    return;
  }
  for (int64_t b = 0; b < count * width; ++b) {
    const int64_t source = from_at * width + b, target = to_at * width + b;
    const bool set = (from[source / 8] >> source % 8 & std::byte{1}) != std::byte{0};
    const std::byte mask = std::byte(1 << target % 8);
    to[target / 8] = set ? to[target / 8] | mask : to[target / 8] & ~mask;
  }
}

TensorView StridedTensor::view() const {
  return {data, dtype, static_cast<int32_t>(dims.size()), dims.data(), strides.empty() ? nullptr : strides.data()};
}

Expected<StridedTensor> lay_out(const Tensor& tensor, const TensorType& type) {
  StridedTensor out;
  out.dtype = tensor.dtype;
  out.dims = tensor.dims;
  out.data = tensor.data.data();
  const bool dynamic = std::find(type.strides.begin(), type.strides.end(), kDynamic) != type.strides.end();
  if (type.strides.size() != tensor.dims.size() || dynamic || type.strides == contiguous_strides(tensor.dims)) return out;

  int64_t low = 0, high = 0;
  STREW_TRY(extent_of(tensor.dims, type.strides, low, high));
  out.strides = type.strides;
  // Element 0 must begin at a byte, also for dtypes below 8 bits. So the space before it, which negative offsets need,
  // is rounded up to 8 elements.
  const int64_t first = (-low + 7) / 8 * 8;
  STREW_ASSIGN(out.buffer, Buffer::allocate(storage_bytes(tensor.dtype, first + high + 1)));
  std::memset(out.buffer.data(), 0xA5, static_cast<size_t>(out.buffer.size()));
  std::byte* start = out.buffer.data() + storage_bytes(tensor.dtype, first);
  out.data = start;
  for_each_element(out.dims, out.strides, [&](int64_t i, int64_t offset) {
    copy_elements(out.dtype, 1, tensor.data.data(), i, out.buffer.data(), first + offset);
  });
  return out;
}

void collect_layout(const StridedTensor& from, Tensor& to) {
  if (from.strides.empty()) return;
  const auto* start = static_cast<const std::byte*>(from.data);
  // Offsets may be negative, so positions count from the start of the buffer, as in lay_out().
  const int64_t first = (start - from.buffer.data()) * 8 / bits(from.dtype);
  for_each_element(from.dims, from.strides, [&](int64_t i, int64_t offset) {
    copy_elements(from.dtype, 1, from.buffer.data(), first + offset, to.data.data(), i);
  });
}

}  // namespace strew::inline v0
