// move_as_bits: replaces the dtype of elements that are only moved (assign or a gather without expression, no
// conversion) by the unsigned integer of the same width. Generated code then uses no floating-point operations on them,
// so signalling NaNs keep their bits.
#pragma once

#include "strew/op.h"

namespace strew::inline v0 {
/// Returns whether the op changed.
bool move_as_bits(Op& op);
}  // namespace strew::inline v0
