// See vectors.h.
#include "runtime/call/csr/vectors.h"

#include <cstdint>
#include <limits>

namespace strew::inline v0 {
namespace {

Status check_dtype(const NamedView& tensor) {
  const DType dtype = tensor.view.dtype;
  if (tensor.is_result ? dtype == DType::i32 || dtype == DType::i64 : is_integer(dtype) && bits(dtype) >= 8) return {};
  return invalid_argument(tensor.name + ": dtype " + std::string(name(dtype)) + ", expected " +
                          (tensor.is_result ? "i32 or i64" : "an integer of 8 to 64 bits"));
}

}  // namespace

Status check_vector(NamedView& tensor) {
  const TensorView& view = tensor.view;
  const std::string& name = tensor.name;
  if (view.read_only && tensor.is_result)
    return invalid_argument(
        name + ": a view of memory that is read-only, expected one made from a pointer to memory that may be written");
  if (view.rank == TensorView::kWrongStrides)
    return invalid_argument(name +
                            ": the view was given another number of strides than of dims, expected as many, or no strides");
  STREW_TRY(check_dtype(tensor));
  if (view.rank != 1) return invalid_argument(name + ": rank " + std::to_string(view.rank) + ", expected 1");
  if (view.dims == nullptr) return invalid_argument(name + ": dims is null, expected 1 extents");
  if (tensor.dim() < 0) return invalid_argument(name + ": dim 0 is " + std::to_string(tensor.dim()) + ", expected >= 0");
  if (view.strides != nullptr) tensor.stride = view.strides[0];
  if (tensor.is_result && tensor.stride == 0 && tensor.dim() > 1)
    return invalid_argument(name + ": its strides put two elements at one address");
  if (!measure(bits(view.dtype), 1, view.dims, &tensor.stride, tensor.extent))
    return invalid_argument(name + ": its byte extent does not fit 63 bits");
  return {};
}

Status check_address(const NamedView& tensor) {
  const Extent& extent = tensor.extent;
  if (extent.empty) return {};
  const auto base = reinterpret_cast<uintptr_t>(tensor.view.data);
  if (base == 0)
    return invalid_argument(tensor.name + ": data is null, expected " + std::to_string(extent.hi - extent.lo) + " bytes");
  if (base < static_cast<uintptr_t>(-extent.lo) ||
      base > std::numeric_limits<uintptr_t>::max() - static_cast<uintptr_t>(extent.hi))
    return invalid_argument(tensor.name + ": its byte extent wraps around the address space");
  return {};
}

Status check_apart(const NamedView& result, const NamedView& other) {
  if (result.extent.empty || other.extent.empty) return {};
  const auto bytes = [](const NamedView& tensor) {
    return StridedBytes{reinterpret_cast<uintptr_t>(tensor.view.data), bits(tensor.view.dtype) / 8, 1, tensor.view.dims,
                        &tensor.stride};
  };
  if (disjoint(bytes(result), bytes(other))) return {};
  return invalid_argument(result.name + " overlaps " + other.name + ": expected disjoint buffers");
}

Integers integers_of(const NamedView& tensor) {
  const int bytes = bits(tensor.view.dtype) / 8;
  // The stride of no or one element may be any number.
  const int64_t step = tensor.dim() > 1 ? tensor.stride * bytes : bytes;
  return {static_cast<char*>(tensor.view.data), step, bytes, is_signed_integer(tensor.view.dtype)};
}

}  // namespace strew::inline v0
