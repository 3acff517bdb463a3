#include <algorithm>
#include <array>
#include <optional>

#include "bindings/torch/call.h"
#include "bindings/torch/operators/operators.h"
#include "bindings/torch/operators/written.h"
#include "bindings/torch/own/indices.h"
#include "bindings/torch/tensors.h"

namespace strew::aten {
namespace {

void raise_in_data(int64_t value, int64_t, int64_t size, const std::string& strew) {
  TORCH_CHECK(false, "INDICES element is out of DATA bounds, id=", value, " axis_dim=", size, strew);
}

}  // namespace

Reason index_select(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index) {
  if (const Reason reason = plain_all(self, index); reason != Reason::none) return reason;
  if (!moves_alike(self.scalar_type())) return Reason::dtype;
  if (index.scalar_type() != c10::ScalarType::Long && index.scalar_type() != c10::ScalarType::Int) return Reason::index_dtype;
  const std::optional<int64_t> axis = dim_of(self, dim);
  if (!axis || index.dim() != 1 || static_cast<size_t>(self.dim()) > kMostDims) return Reason::shape;
  std::array<int64_t, kMostDims> dims;
  std::copy_n(self.sizes().begin(), self.dim(), dims.begin());
  dims[static_cast<size_t>(*axis)] = index.numel();
  const at::IntArrayRef sizes(dims.data(), static_cast<size_t>(self.dim()));
  const at::Tensor* result = nullptr;
  if (const Reason reason = gathered_to(target, self, sizes, result, index); reason != Reason::none) return reason;
  const int64_t extent = self.sizes()[static_cast<size_t>(*axis)];
  Definition what{Form::gather, *axis};
  // Along another dim than the first, elements of one row of the result after the other: in the order of the index, each would be in another row. The index is the
  // same for all rows, so it is checked here, once; what is out of bounds is said by a call that checks.
  what.is_batched = what.is_checked = *axis > 0 && !first_outside(index, 0, extent);
  std::array<int64_t, kMostDims> strides{};
  strides[static_cast<size_t>(*axis)] = index.stride(0);
  Tensors tensors;
  tensors.add_result(*result);
  tensors.add_input(self);
  if (what.is_batched)
    tensors.add_view(index, dims.data(), strides.data(), *axis + 1);
  else
    tensors.add_input(index);
  // PyTorch has two kernels with words of their own.
  const bool is_along_second = *axis == 1 && result->is_contiguous();
  return run(what, tensors, {is_along_second ? raise_in_data : raise_in_self, *axis, extent});
}

}  // namespace strew::aten
