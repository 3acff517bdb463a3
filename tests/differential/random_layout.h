// Which extents and strides are known only at the call, and how tensors lie in memory.
#pragma once

#include "tests/differential/blueprint.h"
#include "tests/support/rng.h"

namespace strew::test {

void choose_dynamic_dims(Rng& rng, Blueprint& blueprint);
/// Contiguous, permuted, reversed, with gaps, broadcast (updates, indices, extras only); static or dynamic. A result in place shares
/// its operand's layout.
void choose_layouts(Rng& rng, Blueprint& blueprint);

}  // namespace strew::test
