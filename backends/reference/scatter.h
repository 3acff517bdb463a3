// Scatter, as semantics.md section 2 says it.
#pragma once

#include <optional>
#include <span>

#include "strew/abi.h"
#include "strew/op.h"
#include "strew/tensor_view.h"

namespace strew::inline v0::reference {

/// Runs the op, or returns the first bad index of policy `error`, nothing written.
std::optional<strew_fault> scatter(const Scatter& op, std::span<const TensorView> tensors);

}  // namespace strew::inline v0::reference
