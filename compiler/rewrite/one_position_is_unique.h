// one_position_is_unique: sets the hint unique_indices of a scatter in which no destination can be written twice,
// because every position dim is a batching dim or has extent 1. Ops with and without the hint then share a kernel.
#pragma once

#include "strew/op.h"

namespace strew::inline v0 {
/// Returns whether the op changed.
bool one_position_is_unique(Op& op);
}  // namespace strew::inline v0
