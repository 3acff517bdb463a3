// drop_idle_normalise: clears normalize_negative where it has no effect: for unsigned indices, and under policy wrap,
// whose floor-mod maps negative indices already. Ops with and without it then share a kernel.
#pragma once

#include "strew/op.h"

namespace strew::inline v0 {
/// Returns whether the op changed.
bool drop_idle_normalise(Op& op);
}  // namespace strew::inline v0
