// one_position_is_unique: where every index position is a batching position, or there is one, no destination is written twice;
// the hint unique_indices then says nothing and is set, so that ops with and without it share a kernel.
#pragma once

#include "strew/op.h"

namespace strew::inline v0 {
bool one_position_is_unique(Op& op);
}  // namespace strew::inline v0
