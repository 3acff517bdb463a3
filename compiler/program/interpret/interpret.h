// The interpreter: evaluates the operations around the kernels of an imported file (Compute), one whole tensor at a time.
#pragma once

#include <vector>

#include "strew/program.h"
#include "strew/tensor.h"

namespace strew::inline v0 {

/// The results of `compute` for `arguments`. Fails if their dims or dtypes do not fit. Error messages have no location;
/// the caller adds it.
Expected<std::vector<Tensor>> interpret(const Compute& compute, const std::vector<const Tensor*>& arguments);

// One function per operation: map.cc, reduce.cc, scan.cc, move.cc. `type` is that of the result.
using Arguments = std::vector<const Tensor*>;
Expected<Tensor> evaluate(const MapOp& op, const TensorType& type, const Arguments& arguments);
Expected<std::vector<Tensor>> evaluate(const ReduceOp& op, const std::vector<TensorType>& types, const Arguments& arguments);
Expected<Tensor> evaluate(const ScanOp& op, const TensorType& type, const Arguments& arguments);
Expected<Tensor> evaluate(const IotaOp& op, const TensorType& type, const Arguments& arguments);
Expected<Tensor> evaluate(const BroadcastOp& op, const TensorType& type, const Arguments& arguments);
Expected<Tensor> evaluate(const ReshapeOp& op, const TensorType& type, const Arguments& arguments);
Expected<Tensor> evaluate(const TransposeOp& op, const TensorType& type, const Arguments& arguments);
Expected<Tensor> evaluate(const SliceOp& op, const TensorType& type, const Arguments& arguments);
Expected<Tensor> evaluate(const UpdateOp& op, const TensorType& type, const Arguments& arguments);
Expected<Tensor> evaluate(const ConcatenateOp& op, const TensorType& type, const Arguments& arguments);
Expected<Tensor> evaluate(const ReverseOp& op, const TensorType& type, const Arguments& arguments);

/// Fails unless the extents `actual` are possible for `type`; `what` names the tensor in the message.
Status check_extents(const std::vector<int64_t>& actual, const TensorType& type, const char* what);

}  // namespace strew::inline v0
