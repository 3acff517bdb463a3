// gather and take.
#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>

#include <array>

#include "bindings/torch/call.h"
#include "bindings/torch/operators/elements.h"
#include "bindings/torch/operators/operators.h"
#include "bindings/torch/operators/written.h"
#include "bindings/torch/tensors.h"

namespace strew::aten {
namespace {

void raise_taken(int64_t value, int64_t, int64_t size, const std::string& strew) {
  TORCH_CHECK_INDEX(false, "out of range: tried to access index ", value, " on a tensor of ", size, " elements.", strew);
}

}  // namespace

Reason gather(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index, bool) {
  if (const Reason reason = plain_all(self, index); reason != Reason::none) return reason;
  if (!moves_alike(self.scalar_type())) return Reason::dtype;
  Along how;
  if (const Reason reason = along(self, dim, index, nullptr, how); reason != Reason::none) return reason;
  const at::Tensor* result = nullptr;
  if (const Reason reason = gathered_to(target, self, index.sizes(), result, index); reason != Reason::none) return reason;
  const CutView written(*result, index, how, index.size(how.axis)), operand(self, index, how, self.size(how.axis));
  Tensors tensors;
  tensors.add_result_view(*result, written.dims.data(), written.strides.data(), written.rank);
  tensors.add_view(self, operand.dims.data(), operand.strides.data(), operand.rank);
  add_index(tensors, index, how);
  return run({how.of_rows ? Form::gather : Form::gather_elements, how.of_rows ? 0 : how.axis}, tensors,
             {raise_runtime_error, how.axis, self.size(how.axis)});
}

Reason take(Target& target, const at::Tensor& self, const at::Tensor& index) {
  if (const Reason reason = plain_all(self, index); reason != Reason::none) return reason;
  if (!moves_alike(self.scalar_type())) return Reason::dtype;
  if (index.scalar_type() != c10::ScalarType::Long) return Reason::index_dtype;
  if (!self.is_contiguous() || static_cast<size_t>(index.dim()) > kMostDims) return Reason::shape;
  const at::Tensor* result = nullptr;
  if (const Reason reason = gathered_to(target, self, index.sizes(), result, index); reason != Reason::none) return reason;
  const int64_t count = self.numel(), one = 1;
  Tensors tensors;
  tensors.add_result(*result);
  tensors.add_view(self, &count, &one, 1);
  tensors.add_input(index);
  return run({Form::gather_at, 0, Init::in_place, Combiner::assign, false, true, false}, tensors, {raise_taken, 0, count});
}

Reason put(Target& target, const at::Tensor& self, const at::Tensor& index, const at::Tensor& source, bool accumulate) {
  if (const Reason reason = plain_all(self, index, source); reason != Reason::none) return reason;
  if (source.scalar_type() != self.scalar_type() ||
      (accumulate ? !adds_alike(self.scalar_type()) : !moves_alike(self.scalar_type())))
    return Reason::dtype;
  if (index.scalar_type() != c10::ScalarType::Long) return Reason::index_dtype;
  // PyTorch raises or warns then.
  if (!accumulate && at::globalContext().deterministicAlgorithms()) return Reason::argument;
  if (!self.is_contiguous() || index.sizes() != source.sizes() || static_cast<size_t>(index.dim()) > kMostDims)
    return Reason::shape;
  // PyTorch goes over others as they lie, and the order decides the bits of sums and which of equal indices is the last.
  if (index.dim() > 1 && !(index.is_contiguous() && source.is_contiguous())) return Reason::layout;
  Written written;
  if (const Reason reason = written_by(target, self, written, index, source); reason != Reason::none) return reason;
  const int64_t count = self.numel(), one = 1;
  Tensors tensors;
  tensors.add_result_view(*written.tensor, &count, &one, 1);
  tensors.add_input(index);
  tensors.add_input(source);
  return run({Form::scatter_at, 0, Init::in_place, accumulate ? Combiner::add : Combiner::assign, false, true, false}, tensors,
             {raise_taken, 0, count});
}

}  // namespace strew::aten
