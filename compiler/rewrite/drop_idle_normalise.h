// drop_idle_normalise: normalize_negative means nothing for unsigned indices, and nothing under wrap (floor-mod already folds
// negatives). Dropping it lets ops that mean the same share a kernel.
#pragma once

#include "strew/op.h"

namespace strew::inline v0 {
bool drop_idle_normalise(Op& op);
}  // namespace strew::inline v0
