// Forms: the scatters and gathers of common frameworks. Each function returns a builder with the form's dimension
// numbers and policy filled in (docs/semantics.md section 7); the caller sets the rest (combiner, init, another policy)
// on the builder. All front ends use these functions.
//
// Arguments are the types of whole tensors. A negative `axis` counts from the end. Arguments that no dimension numbers
// describe are reported by build(), not here. Tested by tests/unit/compiler/op/builder_test.cc.
#pragma once

#include "strew/builder.h"
#include "strew/export.h"

namespace strew::inline v0 {

/// result = operand with `updates` written at one start, clamped. indices: one vector, [rank]. TFLite and StableHLO.
STREW_API ScatterBuilder dynamic_update_slice(const TensorType& operand, const TensorType& indices, const TensorType& updates);
/// The window of `slice_sizes` at one start, clamped. indices: one vector, [rank].
STREW_API GatherBuilder dynamic_slice(const TensorType& operand, const TensorType& indices, std::vector<int64_t> slice_sizes);

/// ONNX TensorScatter: batch element b of `updates` is written into batch element b of `operand` from indices[b] along
/// `axis` (not 0). Linear: policy error, if the update does not fit. Circular: policy wrap, which also wraps negative
/// starts; ONNX forbids these, so the caller checks for them.
///
/// A cache of a fixed number of sequences takes updates for the first few of them: the batch of `indices` and `updates` may be less than that of `operand`, and it
/// may be kDynamic. One kernel then serves every batch, and it is compiled once, when the program starts:
/// `tensor_scatter(bf16({16, heads, length, width}), i32({kDynamic}), bf16({kDynamic, heads, 1, width})).in_place()`.
STREW_API ScatterBuilder tensor_scatter(const TensorType& operand, const TensorType& indices, const TensorType& updates,
                                        int64_t axis = -2, bool circular = false);

/// operand[indices[i...]] = updates[i...], where operand[r] is a row: all dims but dim 0 (a single element if the
/// operand has rank 1). The policy is the op's default: skip_element for a scatter, clamp for a gather.
STREW_API ScatterBuilder scatter_rows(const TensorType& operand, const TensorType& indices, const TensorType& updates);
STREW_API GatherBuilder gather_rows(const TensorType& operand, const TensorType& indices);

/// ONNX ScatterElements and Scatter: operand[i0.. indices[i] ..ik] = updates[i], with the index in dim `axis`. Negative
/// indices count from the end; policy error.
STREW_API ScatterBuilder scatter_elements(const TensorType& operand, const TensorType& indices, const TensorType& updates,
                                          int64_t axis = 0);
STREW_API GatherBuilder gather_elements(const TensorType& operand, const TensorType& indices, int64_t axis = 0);

/// ONNX ScatterND, TFLite SCATTER_ND: the last dim of indices is an index vector over the first dims of the operand.
/// Negative indices count from the end; policy error.
STREW_API ScatterBuilder scatter_nd(const TensorType& operand, const TensorType& indices, const TensorType& updates);
STREW_API GatherBuilder gather_nd(const TensorType& operand, const TensorType& indices, int64_t batch_dims = 0);

/// NumPy's a[i, j] = updates and a[i, j], PyTorch's index_put and index: tensor k of `indices`, which all have the same dims, indexes dim k of the operand.
/// None of them is copied into index vectors. Negative indices count from the end; policy error.
STREW_API ScatterBuilder scatter_at(const TensorType& operand, const std::vector<TensorType>& indices, const TensorType& updates);
STREW_API GatherBuilder gather_at(const TensorType& operand, const std::vector<TensorType>& indices);

/// result[e] = dot(lhs[lhs_ids[e]], rhs[rhs_ids[e]]): the dot product of two rows that are looked up, for each position e of the ids, which have the same
/// dims. It is the gradient of the weights of edges (a sampled product of dense matrices, SDDMM). Products are added in `lanes` lanes (op.h:
/// RowReduction), of f16, bf16 and f8 in f32, and the sum is rounded to the dtype of `lhs`. Policy error for both ids.
///
/// The op's result has the dims of ids and rows, with stride 0 along the rows: a call binds a view of a tensor with the dims of the ids. Its own
/// indices are i32 with a last dim of 0 and no elements. The rows of `lhs` are bound as updates, those of `rhs` as extra 0, the ids as indices 1 and 2.
STREW_API ScatterBuilder sddmm(const TensorType& lhs, const TensorType& lhs_ids, const TensorType& rhs, const TensorType& rhs_ids,
                               int lanes = 8);

/// ONNX Gather, TFLite GATHER, numpy.take: dim `axis` of the operand is replaced by the dims of indices. The first
/// `batch_dims` dims of indices are batching dims, paired with those of the operand. Negative indices count from the
/// end; policy error.
STREW_API GatherBuilder gather(const TensorType& operand, const TensorType& indices, int64_t axis = 0, int64_t batch_dims = 0);

}  // namespace strew::inline v0
