// The interpreter: evaluates the operations around the kernels of an imported file (Compute), one whole tensor at a time.
#pragma once

#include <vector>

#include "strew/import.h"
#include "strew/tensor.h"

namespace strew::inline v0 {

/// The results of `compute` for `arguments`. Fails if their dims or dtypes do not fit. Error messages have no location;
/// the caller adds it.
Expected<std::vector<Tensor>> interpret(const Compute& compute, const std::vector<const Tensor*>& arguments);

// One function per family of operations: map.cc, reduce.cc, scan.cc, move.cc.
Expected<Tensor> interpret_map(const Compute& compute, const std::vector<const Tensor*>& arguments);
Expected<std::vector<Tensor>> interpret_reduce(const Compute& compute, const std::vector<const Tensor*>& arguments);
Expected<Tensor> interpret_iota(const Compute& compute, const std::vector<const Tensor*>& arguments);
Expected<Tensor> interpret_scan(const Compute& compute, const std::vector<const Tensor*>& arguments);
Expected<Tensor> interpret_move(const Compute& compute, const std::vector<const Tensor*>& arguments);

/// Fails unless the extents `actual` are possible for `type`; `what` names the tensor in the message.
Status check_extents(const std::vector<int64_t>& actual, const TensorType& type, const char* what);

}  // namespace strew::inline v0
