// specialise(): replaces the dynamic extents and strides of an op by those of given buffers, which yields a static op.
#pragma once

#include <span>

#include "strew/op.h"
#include "strew/status.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

/// `op` with every dynamic extent, stride and slice size replaced by that of the bound tensors; bound[i] is the tensor
/// of tensor_slots(op)[i]. Fails if a tensor contradicts its type; the message names the slot, the dim, the bound value
/// and the op's. The caller verifies the result, because relations between tensors (such as dims of updates and of
/// indices) are checked only by verify().
Expected<Op> specialise(const Op& op, std::span<const TensorView> bound);

}  // namespace strew::inline v0
