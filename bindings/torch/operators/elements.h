// Operators whose index has the dims of what it indexes: scatter and gather along a dim. Tested by tests/torch.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <optional>

#include "bindings/torch/call.h"
#include "bindings/torch/report.h"

namespace strew::aten {

/// How an index goes over a tensor.
struct Along {
  int64_t axis = 0;
  /// Every element of a row has the index of the row, as in `index.unsqueeze(1).expand(-1, features)` of PyTorch Geometric.
  bool of_rows = false;
  bool is_whole = true;  ///< the index names elements of all of the tensor but along the axis
};
/// `tensor`: what the index selects from. `other`: of a scatter, what has an element for each index.
Reason along(const at::Tensor& tensor, int64_t dim, const at::Tensor& index, const at::Tensor* other, Along& out);

/// A tensor that is cut to what the index names. Of rows, the axis comes first.
struct CutView {
  CutView(const at::Tensor& tensor, const at::Tensor& index, const Along& how, int64_t extent_of_axis);
  std::array<int64_t, kMostDims> dims, strides;
  int64_t rank;
};

/// The index for the op: one number per row, or all.
void add_index(Tensors& tensors, const at::Tensor& index, const Along& how);

/// Divides sums by how many updates there are of each element, as PyTorch does: those of integers are rounded down. `by_row`: the index has one number for each row, and one dim.
void divide_by_counts(const at::Tensor& sums, int64_t axis, const at::Tensor& index, bool by_row, bool include_self);

/// What elements that are named begin with where their old values do not take part.
c10::Scalar neutral(Combiner combiner, const at::Tensor& self);

}  // namespace strew::aten
