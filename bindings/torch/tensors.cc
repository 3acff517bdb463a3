#include "bindings/torch/tensors.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#if __has_include(<ATen/core/NamedTensor.h>)
#include <ATen/core/NamedTensor.h>
#endif

namespace strew::aten {
namespace {

/// Versions before 2.15 have tensors whose dims have names.
bool has_names([[maybe_unused]] const at::Tensor& tensor) {
#if __has_include(<ATen/core/NamedTensor.h>)
  return tensor.has_names();
#else
  return false;
#endif
}

/// Keys of tensors that are more than memory with sizes and strides.
constexpr c10::DispatchKeySet kSpecial({c10::DispatchKey::Python, c10::DispatchKey::Conjugate, c10::DispatchKey::Negative,
                                        c10::DispatchKey::ZeroTensor, c10::DispatchKey::Functionalize, c10::DispatchKey::Batched,
                                        c10::DispatchKey::FuncTorchBatched, c10::DispatchKey::FuncTorchGradWrapper});

struct Extent {
  const char* begin;
  const char* end;
};
Extent memory_of(const at::Tensor& tensor) {
  int64_t last = 0;
  for (int64_t d = 0; d < tensor.dim(); ++d) last += (tensor.size(d) - 1) * tensor.stride(d);
  const char* const begin = static_cast<const char*>(tensor.const_data_ptr());
  return {begin, begin + (last + 1) * static_cast<int64_t>(tensor.element_size())};
}

}  // namespace

std::optional<strew_dtype> dtype_of(c10::ScalarType dtype) {
  switch (dtype) {
    case c10::ScalarType::Bool:
      return STREW_BOOL;
    case c10::ScalarType::Char:
      return STREW_I8;
    case c10::ScalarType::Byte:
      return STREW_U8;
    case c10::ScalarType::Short:
      return STREW_I16;
    case c10::ScalarType::UInt16:
      return STREW_U16;
    case c10::ScalarType::Int:
      return STREW_I32;
    case c10::ScalarType::UInt32:
      return STREW_U32;
    case c10::ScalarType::Long:
      return STREW_I64;
    case c10::ScalarType::UInt64:
      return STREW_U64;
    case c10::ScalarType::Half:
      return STREW_F16;
    case c10::ScalarType::BFloat16:
      return STREW_BF16;
    case c10::ScalarType::Float:
      return STREW_F32;
    case c10::ScalarType::Double:
      return STREW_F64;
    case c10::ScalarType::ComplexFloat:
      return STREW_COMPLEX64;
    case c10::ScalarType::ComplexDouble:
      return STREW_COMPLEX128;
    case c10::ScalarType::Float8_e4m3fn:
      return STREW_F8E4M3FN;
    case c10::ScalarType::Float8_e4m3fnuz:
      return STREW_F8E4M3FNUZ;
    case c10::ScalarType::Float8_e5m2:
      return STREW_F8E5M2;
    case c10::ScalarType::Float8_e5m2fnuz:
      return STREW_F8E5M2FNUZ;
    case c10::ScalarType::Float8_e8m0fnu:
      return STREW_F8E8M0;
    default:  // PyTorch adds dtypes from release to release
      return std::nullopt;
  }
}

bool is_narrow_float(c10::ScalarType dtype) { return dtype == c10::ScalarType::Half || dtype == c10::ScalarType::BFloat16; }

bool moves_alike(c10::ScalarType dtype) { return dtype == c10::ScalarType::Bool || adds_alike(dtype); }

bool adds_alike(c10::ScalarType dtype) {
  switch (dtype) {
    case c10::ScalarType::Char:
    case c10::ScalarType::Byte:
    case c10::ScalarType::Short:
    case c10::ScalarType::Int:
    case c10::ScalarType::Long:
    case c10::ScalarType::Half:
    case c10::ScalarType::BFloat16:
    case c10::ScalarType::Float:
    case c10::ScalarType::Double:
    case c10::ScalarType::ComplexFloat:
    case c10::ScalarType::ComplexDouble:
      return true;
    default:  // as above
      return false;
  }
}

Reason plain(const at::Tensor& tensor, bool may_be_scalar) {
  if (!tensor.defined()) return Reason::argument;
  const c10::TensorImpl* const impl = tensor.unsafeGetTensorImpl();
  const c10::DispatchKeySet keys = impl->key_set();
  if (!keys.has(c10::DispatchKey::CPU) || keys.has_any(kSpecial) || impl->has_symbolic_sizes_strides() || !impl->has_storage() ||
      has_names(tensor))
    return Reason::tensor;
  if (impl->numel() == 0 || (impl->dim() == 0 && !may_be_scalar)) return Reason::empty;
  return Reason::none;
}

bool is_plain_sparse(const at::Tensor& tensor) {
  const c10::DispatchKeySet keys = tensor.key_set();
  return keys.has(c10::DispatchKey::SparseCPU) && !keys.has_any(kSpecial) && tensor.layout() == c10::Layout::Sparse &&
         !tensor.unsafeGetTensorImpl()->has_symbolic_sizes_strides();
}

bool elements_apart(const at::Tensor& tensor) {
  if (tensor.is_non_overlapping_and_dense()) return true;
  constexpr size_t kMostDims = 16;
  if (static_cast<size_t>(tensor.dim()) > kMostDims) return false;
  std::array<std::pair<int64_t, int64_t>, kMostDims> dims;  // stride and extent
  size_t count = 0;
  for (int64_t d = 0; d < tensor.dim(); ++d)
    if (tensor.size(d) != 1) dims[count++] = {tensor.stride(d), tensor.size(d)};
  std::sort(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(count));
  int64_t inside = 1;  // a step of this dim has to pass over what the smaller steps reach
  for (size_t d = 0; d < count; ++d) {
    if (dims[d].first < inside) return false;
    inside += (dims[d].second - 1) * dims[d].first;
  }
  return true;
}

bool apart(const at::Tensor& one, const at::Tensor& other) {
  const Extent first = memory_of(one), second = memory_of(other);
  return first.end <= second.begin || second.end <= first.begin;
}

bool same_view(const at::Tensor& one, const at::Tensor& other) {
  return one.unsafeGetTensorImpl() == other.unsafeGetTensorImpl() ||
         (one.const_data_ptr() == other.const_data_ptr() && one.sizes() == other.sizes() && one.strides() == other.strides());
}

at::Tensor value_of(c10::ScalarType dtype, const c10::Scalar& value) {
  at::Tensor made(at::detail::empty_cpu({}, dtype));
  made.fill_(value);
  return made;
}

bool fits_narrow(c10::ScalarType dtype, const c10::Scalar& value) {
  const double given = value.toDouble();
  return !std::isfinite(given) || std::isfinite(value_of(dtype, value).item<double>());
}

std::optional<int64_t> dim_of(const at::Tensor& tensor, int64_t dim) {
  const int64_t rank = tensor.dim();
  if (dim < -rank || dim >= rank) return std::nullopt;
  return dim < 0 ? dim + rank : dim;
}

}  // namespace strew::aten
