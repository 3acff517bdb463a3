// The operators that strew runs, one function for the overloads of each: what it takes, what PyTorch says of a bad index, and the op. Tested by tests/torch.
#pragma once

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>

#include <optional>
#include <string_view>
#include <tuple>

#include "bindings/torch/override.h"
#include "bindings/torch/report.h"

namespace strew::aten {

Reason index_add(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index, const at::Tensor& source,
                 const c10::Scalar& alpha);
Reason index_copy(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index, const at::Tensor& source);
Reason index_fill(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index, const c10::Scalar& value);
Reason index_reduce(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index, const at::Tensor& source,
                    std::string_view reduce, bool include_self);
Reason index_select(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index);

Reason index(Target& target, const at::Tensor& self, const c10::List<std::optional<at::Tensor>>& indices);
Reason index_put(Target& target, const at::Tensor& self, const c10::List<std::optional<at::Tensor>>& indices,
                 const at::Tensor& values, bool accumulate, bool unsafe);
Reason masked_scatter(Target& target, const at::Tensor& self, const at::Tensor& mask, const at::Tensor& source);
Reason take(Target& target, const at::Tensor& self, const at::Tensor& index);
Reason put(Target& target, const at::Tensor& self, const at::Tensor& index, const at::Tensor& source, bool accumulate);

Reason gather(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index, bool sparse_grad);
Reason scatter(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index, const at::Tensor& src);
Reason scatter_value(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index, const c10::Scalar& value);
/// scatter(..., reduce="add"), an older form of scatter_reduce.
Reason scatter_with(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index, const at::Tensor& src,
                    std::string_view reduce);
Reason scatter_add(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index, const at::Tensor& src);
Reason scatter_reduce(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index, const at::Tensor& src,
                      std::string_view reduce, bool include_self);

Reason segment_reduce(Target& target, const at::Tensor& data, std::string_view reduce, const std::optional<at::Tensor>& lengths,
                      const std::optional<at::Tensor>& indices, const std::optional<at::Tensor>& offsets, int64_t axis,
                      bool unsafe, const std::optional<c10::Scalar>& initial);
Reason segment_reduce_backward(Target& target, const at::Tensor& grad, const at::Tensor& output, const at::Tensor& data,
                               std::string_view reduce, const std::optional<at::Tensor>& lengths,
                               const std::optional<at::Tensor>& offsets, int64_t axis, const std::optional<c10::Scalar>& initial);

/// `other` is sparse, `self` is not.
Reason add_sparse(Target& target, const at::Tensor& self, const at::Tensor& other, const c10::Scalar& alpha);

/// Of the gradient of an embedding: rows of `grad` are added to the rows of a new table that `indices` names.
Reason embedding_dense_backward(Target& target, const at::Tensor& grad, const at::Tensor& indices, const c10::SymInt& num_weights,
                                const c10::SymInt& padding_idx, bool scale_grad_by_freq);
/// Rows of the table reduced for each bag; which bag an index is in; the bags' sizes; of maxima, the indices that they are from.
using FourTensors = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;
Reason embedding_bag(FourTensors& made, const at::Tensor& table, const at::Tensor& indices, const at::Tensor& offsets,
                     bool scale_grad_by_freq, int64_t mode, bool sparse, const std::optional<at::Tensor>& weights,
                     bool include_last_offset, int64_t padding);
/// The same where nobody asks for a gradient.
Reason embedding_bag_forward_only(FourTensors& made, const at::Tensor& table, const at::Tensor& indices,
                                  const at::Tensor& offsets, bool scale_grad_by_freq, int64_t mode, bool sparse,
                                  const std::optional<at::Tensor>& weights, bool include_last_offset, int64_t padding);
/// Of the gradient of a sum, mean or maximum of rows of an embedding for each bag.
Reason embedding_bag_dense_backward(Target& target, const at::Tensor& grad, const at::Tensor& indices, const at::Tensor& bags,
                                    const at::Tensor& bag_sizes, const at::Tensor& max_indices, const c10::SymInt& num_weights,
                                    bool scale_grad_by_freq, int64_t mode, const std::optional<at::Tensor>& weights,
                                    int64_t padding);

}  // namespace strew::aten
