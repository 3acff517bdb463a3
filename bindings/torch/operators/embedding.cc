#include <ATen/EmptyTensor.h>

#include <array>

#include "bindings/torch/call.h"
#include "bindings/torch/operators/operators.h"
#include "bindings/torch/tensors.h"

namespace strew::aten {

Reason embedding_dense_backward(Target& target, const at::Tensor& grad, const at::Tensor& indices, c10::SymInt num_weights,
                                c10::SymInt padding_idx, bool scale_grad_by_freq) {
  if (const Reason reason = plain_all(grad, indices); reason != Reason::none) return reason;
  if (!grad.is_floating_point() || !adds_alike(grad.scalar_type())) return Reason::dtype;
  if (indices.scalar_type() != c10::ScalarType::Long && indices.scalar_type() != c10::ScalarType::Int) return Reason::index_dtype;
  if (scale_grad_by_freq || num_weights.is_symbolic() || padding_idx.is_symbolic()) return Reason::argument;
  const int64_t features = grad.size(-1), count = indices.numel(), rows = num_weights.expect_int();
  if (rows <= 0 || grad.numel() != count * features || !grad.is_contiguous() || !indices.is_contiguous()) return Reason::shape;
  const std::array<int64_t, 2> table{rows, features}, updates{count, features}, strides{features, 1};
  const at::Tensor& result = target.keep(at::Tensor(at::detail::empty_cpu(table, grad.scalar_type())));
  constexpr int64_t kOne = 1;
  Tensors tensors;
  tensors.add_result(result);
  tensors.add_view(indices, &count, &kOne, 1);
  tensors.add_view(grad, updates.data(), strides.data(), 2);
  const Definition what{Form::scatter_rows, 0, Init::zeros, Combiner::add, false, false, true};
  if (const Reason reason = run(what, tensors, {raise_index_error, 0, rows}); reason != Reason::none) return reason;
  const int64_t padding = padding_idx.expect_int();
  if (padding >= 0 && padding < rows) result.select(0, padding).zero_();
  return Reason::none;
}

}  // namespace strew::aten
