// Forms: the familiar spellings of a scatter or gather, as builders with their dimension numbers and policies filled in (semantics.md
// section 7). Shared by every front end; what a caller adds (combiner, init, another policy) is said on the builder.
//
// `indices` arguments are whole tensor types; `axis` may be negative and then counts from the end.
#pragma once

#include "strew/builder.h"
#include "strew/export.h"

namespace strew::inline v0 {

/// result = operand with `updates` written at one start, clamped. indices: one vector, [rank]. TFLite and StableHLO.
STREW_API ScatterBuilder dynamic_update_slice(const TensorType& operand, const TensorType& indices, const TensorType& updates);
/// The window of `slice_sizes` at one start, clamped. indices: one vector, [rank].
STREW_API GatherBuilder dynamic_slice(const TensorType& operand, const TensorType& indices, std::vector<int64_t> slice_sizes);

/// ONNX TensorScatter: batch element b of `updates` is written into batch element b of `operand` from indices[b] along `axis` (not 0).
/// linear: error where it does not fit; circular: wraps around. That a start is not negative is the caller's to check in circular mode.
STREW_API ScatterBuilder tensor_scatter(const TensorType& operand, const TensorType& indices, const TensorType& updates,
                                        int64_t axis = -2, bool circular = false);

/// operand[indices[i...]] (a row: everything but dim 0) = updates[i...]. A rank-1 operand makes rows elements. StableHLO's default policy.
STREW_API ScatterBuilder scatter_rows(const TensorType& operand, const TensorType& indices, const TensorType& updates);
STREW_API GatherBuilder gather_rows(const TensorType& operand, const TensorType& indices);

/// ONNX ScatterElements, Scatter: operand[i0.. indices[i] ..ik] = updates[i]. Negatives count from the end; error outside.
STREW_API ScatterBuilder scatter_elements(const TensorType& operand, const TensorType& indices, const TensorType& updates,
                                          int64_t axis = 0);
STREW_API GatherBuilder gather_elements(const TensorType& operand, const TensorType& indices, int64_t axis = 0);

/// ONNX ScatterND, TFLite SCATTER_ND: the last dim of indices is an index vector over the first operand dims. Negatives count from the
/// end; error outside.
STREW_API ScatterBuilder scatter_nd(const TensorType& operand, const TensorType& indices, const TensorType& updates);
STREW_API GatherBuilder gather_nd(const TensorType& operand, const TensorType& indices, int64_t batch_dims = 0);

/// ONNX Gather, TFLite GATHER, numpy.take: `axis` of operand is replaced by the dims of indices (without its first batch_dims, which
/// pair with the operand's). Negatives count from the end; error outside.
STREW_API GatherBuilder gather(const TensorType& operand, const TensorType& indices, int64_t axis = 0, int64_t batch_dims = 0);

}  // namespace strew::inline v0
