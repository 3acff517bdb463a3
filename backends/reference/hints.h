// Are an op's hints true of a call's indices? What schedule knob `checked` asks before anything is written.
#pragma once

#include <span>

#include "strew/op.h"
#include "strew/status.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

/// unique_indices: no two updates write one element of the result (updates that the policy drops write none).
/// indices_are_sorted: the starts, compared dim by dim of the indexed tensor, never decrease from one position to the next of the same
/// batch. Views as run_reference takes them. A failure names the hint, the two positions, and what they share or how they compare.
Status check_hints(const Op& op, std::span<const TensorView> tensors);

/// Does it give any?
bool has_hints(const Op& op);

}  // namespace strew::inline v0
