// The interpreter: evaluates the operations around the kernels of an imported file (Compute), one whole tensor at a time.
#pragma once

#include <vector>

#include "base/number.h"
#include "strew/program.h"
#include "strew/tensor.h"

namespace strew::inline v0 {

/// The results of `compute` for `arguments`. Fails if their dims or dtypes do not fit. Error messages have no location;
/// the caller adds it.
Expected<std::vector<Tensor>> interpret(const Compute& compute, const std::vector<const Tensor*>& arguments);

// One function per operation: map.cc, reduce.cc (with scan), move.cc. `type` is that of the result.
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

/// The dims of the result of an operation with takes_shape, whose last argument is `shape`; `from`: those of the first argument.
Expected<std::vector<int64_t>> taken_dims(const Compute& compute, const std::vector<int64_t>& from, const Tensor& shape);

/// Element i of a tensor of integers.
inline int64_t integer_at(const Tensor& tensor, int64_t i) {
  return decode_i64(tensor.dtype, load_element(tensor.dtype, tensor.data.data(), i).bits[0]);
}

/// Calls use(zero) with a zero of a C++ type of so many bits, and returns what that returns; false if there is none.
template <class Use>
bool with_width(int bits, const Use& use) {
  struct Wide {
    uint64_t parts[2];
  };
  return bits == 8     ? use(uint8_t{})
         : bits == 16  ? use(uint16_t{})
         : bits == 32  ? use(uint32_t{})
         : bits == 64  ? use(uint64_t{})
         : bits == 128 ? use(Wide{})
                       : false;
}

/// Fails unless the extents `actual` are possible for `type`; `what` names the tensor in the message.
Status check_extents(const std::vector<int64_t>& actual, const TensorType& type, const char* what);

}  // namespace strew::inline v0
