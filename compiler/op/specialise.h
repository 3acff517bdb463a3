// Specialise: the static op that a dynamic op is for given buffers.
#pragma once

#include <span>

#include "strew/op.h"
#include "strew/status.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

/// `op` with every dynamic extent, stride and slice size replaced by what `bound` has. bound[i] stands for tensor_slots(op)[i]. Errors
/// name the slot, the dim, what is bound and what the op says. The caller verifies the result: relations between tensors (updates dims
/// against indices dims, say) are verify()'s.
Expected<Op> specialise(const Op& op, std::span<const TensorView> bound);

}  // namespace strew::inline v0
