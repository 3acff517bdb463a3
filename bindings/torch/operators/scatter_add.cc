#include <array>
#include <optional>

#include "bindings/torch/call.h"
#include "bindings/torch/operators/operators.h"
#include "bindings/torch/operators/scatter_result.h"
#include "bindings/torch/tensors.h"

namespace strew::aten {
namespace {

/// Whether every element of a row has the index of the row: `index.unsqueeze(1).expand(-1, features)`, as PyTorch Geometric writes it.
bool is_of_rows(const at::Tensor& index, int64_t axis) {
  for (int64_t d = 0; d < index.dim(); ++d)
    if (d != axis && index.size(d) != 1 && index.stride(d) != 0) return false;
  return true;
}

/// A scatter's operand, or its updates, cut to what the index names. Of rows, the axis comes first.
struct View {
  View(const at::Tensor& tensor, const at::Tensor& index, int64_t axis, int64_t extent, bool of_rows) : rank(index.dim()) {
    size_t at = 0;
    const auto add = [&](int64_t d) {
      dims[at] = d == axis ? extent : index.size(d);
      strides[at++] = tensor.stride(d);
    };
    if (of_rows) add(axis);
    for (int64_t d = 0; d < rank; ++d)
      if (!of_rows || d != axis) add(d);
  }
  std::array<int64_t, kMostDims> dims, strides;
  int64_t rank;
};

/// Whether the index names elements of all of self but along the axis; false with `fits` false if it names more than there are.
bool covers(const at::Tensor& self, const at::Tensor& index, int64_t axis, bool& fits) {
  bool all = true;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d == axis) continue;
    fits = fits && index.size(d) <= self.size(d);
    all = all && index.size(d) == self.size(d);
  }
  return all;
}

bool is_within(const at::Tensor& index, const at::Tensor& src) {
  for (int64_t d = 0; d < index.dim(); ++d)
    if (index.size(d) > src.size(d)) return false;
  return true;
}

}  // namespace

Reason scatter_add(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index, const at::Tensor& src) {
  if (const Reason reason = plain_all(self, index, src); reason != Reason::none) return reason;
  if (!adds_alike(self.scalar_type()) || src.scalar_type() != self.scalar_type()) return Reason::dtype;
  if (index.scalar_type() != c10::ScalarType::Long) return Reason::index_dtype;
  const std::optional<int64_t> axis = dim_of(self, dim);
  if (!axis || index.dim() != self.dim() || src.dim() != self.dim() || static_cast<size_t>(self.dim()) > kMostDims)
    return Reason::shape;
  bool fits = true;
  const bool is_whole = covers(self, index, *axis, fits);
  if (!fits || !is_within(index, src)) return Reason::shape;
  Written written;
  if (const Reason reason = written_by(target, self, written, index, src); reason != Reason::none) return reason;
  if (!is_whole && written.init == Init::copy) {  // an op copies no more than its operand
    written.tensor->copy_(self);
    written.init = Init::in_place;
  }
  const bool of_rows = is_of_rows(index, *axis);
  const View result(*written.tensor, index, *axis, self.size(*axis), of_rows),
      operand(self, index, *axis, self.size(*axis), of_rows), updates(src, index, *axis, index.size(*axis), of_rows);
  Tensors tensors;
  tensors.add_result_view(*written.tensor, result.dims.data(), result.strides.data(), result.rank);
  if (written.init == Init::copy) tensors.add_view(self, operand.dims.data(), operand.strides.data(), operand.rank);
  const int64_t count = index.size(*axis), stride = index.stride(*axis);
  if (of_rows)
    tensors.add_view(index, &count, &stride, 1);
  else
    tensors.add_input(index);
  tensors.add_view(src, updates.dims.data(), updates.strides.data(), updates.rank);
  const Definition what{of_rows ? Form::scatter_rows : Form::scatter_elements,
                        of_rows ? 0 : *axis,
                        written.init,
                        Combiner::add,
                        is_narrow_float(self.scalar_type()),
                        false};
  return run(what, tensors, {raise_runtime_error, *axis, self.sizes()[static_cast<size_t>(*axis)]});
}

}  // namespace strew::aten
