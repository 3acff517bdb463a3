#include <algorithm>
#include <array>
#include <optional>

#include "bindings/torch/call.h"
#include "bindings/torch/operators/operators.h"
#include "bindings/torch/operators/scatter_result.h"
#include "bindings/torch/tensors.h"

namespace strew::aten {
namespace {

/// The dims of a tensor with one of them in front.
struct InFront {
  InFront(const at::Tensor& tensor, int64_t dim) : rank(tensor.dim()) {
    dims[0] = tensor.size(dim);
    strides[0] = tensor.stride(dim);
    for (int64_t d = 0, at = 1; d < rank; ++d) {
      if (d == dim) continue;
      dims[static_cast<size_t>(at)] = tensor.size(d);
      strides[static_cast<size_t>(at++)] = tensor.stride(d);
    }
  }
  std::array<int64_t, kMostDims> dims, strides;
  int64_t rank;
};

/// Whether the extents are the same but for one dim.
bool same_but(const at::Tensor& one, const at::Tensor& other, int64_t dim) {
  if (one.dim() != other.dim()) return false;
  for (int64_t d = 0; d < one.dim(); ++d)
    if (d != dim && one.size(d) != other.size(d)) return false;
  return true;
}

/// PyTorch makes a scatter_add of these, which rounds sums of 16 bits once and has other words for a bad index. In other calls every addition is rounded.
bool is_scatter_of_rows(const at::Tensor& self, int64_t axis, const at::Tensor& index) {
  return self.dim() > 1 && (axis == 0 || axis == self.dim() - 1) && index.scalar_type() == c10::ScalarType::Long;
}

}  // namespace

Reason index_add(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index, const at::Tensor& source,
                 const at::Scalar& alpha) {
  if (const Reason reason = plain_all(self, index, source); reason != Reason::none) return reason;
  if (!adds_alike(self.scalar_type()) || source.scalar_type() != self.scalar_type()) return Reason::dtype;
  if (index.scalar_type() != c10::ScalarType::Long && index.scalar_type() != c10::ScalarType::Int) return Reason::index_dtype;
  const std::optional<int64_t> axis = dim_of(self, dim);
  if (!axis || index.dim() != 1 || !same_but(self, source, *axis) || source.size(*axis) != index.numel() ||
      static_cast<size_t>(self.dim()) > kMostDims)
    return Reason::shape;
  if (!alpha.isIntegral(false) || alpha.toLong() != 1) {
    if (!alpha.isFloatingPoint() || alpha.toDouble() != 1.0) return Reason::argument;
  }
  Written written;
  if (const Reason reason = written_by(target, self, written, index, source); reason != Reason::none) return reason;
  const bool is_rows = is_scatter_of_rows(self, *axis, index);
  const Definition what{
      Form::scatter_rows, 0, written.init, Combiner::add, is_rows && is_narrow_float(self.scalar_type()), false};
  const InFront result(*written.tensor, *axis), operand(self, *axis), updates(source, *axis);
  Tensors tensors;
  tensors.add_result_view(*written.tensor, result.dims.data(), result.strides.data(), result.rank);
  if (written.init == Init::copy) tensors.add_view(self, operand.dims.data(), operand.strides.data(), operand.rank);
  tensors.add_input(index);
  tensors.add_view(source, updates.dims.data(), updates.strides.data(), updates.rank);
  return run(what, tensors, {is_rows ? raise_runtime_error : raise_in_self, *axis, self.sizes()[static_cast<size_t>(*axis)]});
}

}  // namespace strew::aten
