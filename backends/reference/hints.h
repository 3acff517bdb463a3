// check_hints(): are an op's hints (unique_indices, indices_are_sorted) true of a call's indices? With schedule knob
// `checked`, a call asks before it writes anything. Tested by tests/unit/backends/reference/hints_test.cc.
#pragma once

#include <span>

#include "strew/op.h"
#include "strew/status.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

/// unique_indices: no two updates write the same element of the result; updates that the policy drops write none.
/// indices_are_sorted: within a batch, the window starts never decrease from one position to the next; starts are
/// compared lexicographically, in the order of the indexed tensor's dims. `tensors`: as for run_reference. The message
/// of a failure names the hint, the two positions, and the element that both write or their two starts.
Status check_hints(const Op& op, std::span<const TensorView> tensors);

/// Does the op give a hint?
bool has_hints(const Op& op);

}  // namespace strew::inline v0
