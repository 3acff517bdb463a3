// Gather as docs/semantics.md defines it. Tested by tests/unit/backends/reference/reference_gather_test.cc.
#pragma once

#include <optional>
#include <span>

#include "strew/abi.h"
#include "strew/op.h"
#include "strew/tensor_view.h"

namespace strew::inline v0::reference {

/// Runs the op. Policy `error`: if an index is out of bounds, writes nothing and returns the first such index.
std::optional<strew_fault> gather(const Gather& op, std::span<const TensorView> tensors);

}  // namespace strew::inline v0::reference
