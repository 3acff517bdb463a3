#include "bindings/torch/operators/elements.h"

#include <ATen/core/DimVector.h>

#include <limits>

#include "bindings/torch/tensors.h"

namespace strew::aten {

Reason along(const at::Tensor& tensor, int64_t dim, const at::Tensor& index, const at::Tensor* other, Along& out) {
  if (index.scalar_type() != c10::ScalarType::Long && index.scalar_type() != c10::ScalarType::Int) return Reason::index_dtype;
  const std::optional<int64_t> axis = dim_of(tensor, dim);
  if (!axis || index.dim() != tensor.dim() || static_cast<size_t>(tensor.dim()) > kMostDims) return Reason::shape;
  if (other != nullptr && other->dim() != tensor.dim()) return Reason::shape;
  out = {*axis, true, true};
  for (int64_t d = 0; d < index.dim(); ++d) {
    if (other != nullptr && index.size(d) > other->size(d)) return Reason::shape;
    if (d == *axis) continue;
    if (index.size(d) > tensor.size(d)) return Reason::shape;
    out.is_whole = out.is_whole && index.size(d) == tensor.size(d);
    out.of_rows = out.of_rows && (index.size(d) == 1 || index.stride(d) == 0);
  }
  // PyTorch refuses these in some of its loops, and takes them in others.
  if (out.of_rows && index.scalar_type() != c10::ScalarType::Long) return Reason::index_dtype;
  return Reason::none;
}

CutView::CutView(const at::Tensor& tensor, const at::Tensor& index, const Along& how, int64_t extent_of_axis)
    : rank(index.dim()) {
  size_t at = 0;
  const auto add = [&](int64_t d) {
    dims[at] = d == how.axis ? extent_of_axis : index.size(d);
    strides[at++] = tensor.stride(d);
  };
  if (how.of_rows) add(how.axis);
  for (int64_t d = 0; d < rank; ++d)
    if (!how.of_rows || d != how.axis) add(d);
}

void add_index(Tensors& tensors, const at::Tensor& index, const Along& how) {
  if (how.of_rows)
    tensors.add_view(index, index.sizes().data() + how.axis, index.strides().data() + how.axis, 1);
  else
    tensors.add_input(index);
}

c10::Scalar neutral(Combiner combiner, const at::Tensor& self) {
  const bool is_float = self.is_floating_point();
  switch (combiner) {
    case Combiner::mul:
      return 1;
    case Combiner::max:
    case Combiner::max_or_kept:
    case Combiner::max_or_update:
      if (is_float) return -std::numeric_limits<double>::infinity();
      break;
    case Combiner::min:
    case Combiner::min_or_kept:
    case Combiner::min_or_update:
      if (is_float) return std::numeric_limits<double>::infinity();
      break;
    case Combiner::assign:
    case Combiner::add:
      return 0;
  }
  const int64_t bits = 8 * static_cast<int64_t>(self.element_size());
  const bool is_unsigned = self.scalar_type() == c10::ScalarType::Byte;
  const int64_t most = is_unsigned ? 255 : static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
  return combiner == Combiner::max ? (is_unsigned ? 0 : -most - 1) : most;
}

void divide_by_counts(const at::Tensor& sums, int64_t axis, const at::Tensor& index, bool by_row, bool include_self) {
  const at::Tensor one = value_of(sums.scalar_type(), 1), first = include_self ? one : value_of(sums.scalar_type(), 0);
  at::Tensor count = first.expand(by_row ? at::IntArrayRef(sums.size(axis)) : sums.sizes()).clone(at::MemoryFormat::Contiguous);
  count.scatter_add_(by_row ? 0 : axis, index.to(c10::ScalarType::Long), one.expand(index.sizes()));
  count.masked_fill_(count.eq(0), 1);
  if (by_row) {
    at::DimVector dims(static_cast<size_t>(sums.dim()), 1);
    dims[static_cast<size_t>(axis)] = count.numel();
    count = count.view(dims);
  }
  at::Tensor mean(sums);
  sums.is_floating_point() ? mean.div_(count) : mean.div_(count, "floor");
}

}  // namespace strew::aten
