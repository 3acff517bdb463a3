// Sums of a tensor and a sparse one, as the gradients of embeddings with `sparse=True` are: what optimizers do with these.
#include <ATen/SparseTensorImpl.h>

#include <array>
#include <cstdint>

#include "bindings/torch/call.h"
#include "bindings/torch/operators/operators.h"
#include "bindings/torch/operators/written.h"
#include "bindings/torch/tensors.h"

namespace strew::aten {

Reason add_sparse(Target& target, const at::Tensor& self, const at::Tensor& other, const c10::Scalar& alpha) {
  if (!is_plain_sparse(other)) return Reason::tensor;
  if (const Reason reason = plain(self); reason != Reason::none) return reason;
  if (!adds_alike(self.scalar_type()) || self.is_complex() || other.scalar_type() != self.scalar_type()) return Reason::dtype;
  const bool is_float = self.is_floating_point(), is_narrow = is_narrow_float(self.scalar_type());
  if (alpha.isComplex() || alpha.isBoolean() || (!is_float && !alpha.isIntegral(false))) return Reason::argument;
  // PyTorch does nothing then, and infinities and NaNs stay as they are.
  if (alpha.toDouble() == 0) return Reason::argument;
  const auto* const sparse = static_cast<const at::SparseTensorImpl*>(other.unsafeGetTensorImpl());
  if (sparse->sparse_dim() != 1 || self.sizes() != other.sizes() || static_cast<size_t>(self.dim()) > kMostDims)
    return Reason::shape;
  const at::Tensor indices = sparse->indices(), values = sparse->values();
  if (const Reason reason = plain_all(indices, values); reason != Reason::none) return reason;
  // PyTorch adds others in another order.
  if (!self.is_contiguous() || !values.is_contiguous()) return Reason::layout;
  if (is_narrow && !fits_narrow(self.scalar_type(), alpha)) return Reason::argument;
  Written written;
  if (const Reason reason = written_by(target, self, written, indices, values); reason != Reason::none) return reason;
  if (!written.tensor->is_contiguous()) return Reason::layout;
  const bool is_coalesced = sparse->coalesced() || sparse->nnz() == 1;
  Definition what;
  what.init = written.init;
  what.combiner = Combiner::add;
  // Of indices that may be equal PyTorch leaves out those that are out of bounds.
  what.skips_bad = !is_coalesced;
  Tensors tensors;
  tensors.add_result(*written.tensor);
  if (written.init == Init::copy) tensors.add_input(self);
  tensors.add_view(indices, indices.sizes().data() + 1, indices.strides().data() + 1, 1);
  tensors.add_input(values);
  const at::Tensor scale = alpha.toDouble() == 1 ? at::Tensor() : value_of(self.scalar_type(), alpha);
  if (scale.defined()) {
    // Rows are added by BLAS, which uses fused multiply-adds. The others round the product, too.
    what.factor = Factor::scalar;
    what.is_fused = is_float && !is_narrow && (self.dim() > 1 || !is_coalesced);
    tensors.add_input(scale);
  }
  return run(what, tensors, {raise_runtime_error, 0, self.size(0)});
}

}  // namespace strew::aten
