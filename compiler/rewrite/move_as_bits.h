// move_as_bits: an op that only moves elements (assign or plain gather, one dtype, no arithmetic) is retyped to the unsigned
// integer of the same width, so f32, i32 and u32 share one kernel and no float register ever sees the data (signalling NaNs
// survive).
#pragma once

#include "strew/op.h"

namespace strew::inline v0 {
bool move_as_bits(Op& op);
}  // namespace strew::inline v0
