// choose_layouts: draws which extents and strides are known only at the call, and the strides of the tensors. Tested
// by every differential run.
#pragma once

#include "tests/differential/blueprint.h"
#include "tests/support/rng.h"

namespace strew::test {

void choose_dynamic_dims(Rng& rng, Blueprint& blueprint);
/// Draws each layout: contiguous, permuted, reversed, with gaps, or broadcast (updates, indices and extras only);
/// static or dynamic. The result of an in-place scatter has its operand's layout.
void choose_layouts(Rng& rng, Blueprint& blueprint);

/// Gives the tensor stride 0 in these dims, which all calls have.
void repeat_along(TensorPlan& t, const std::vector<int64_t>& dims);

}  // namespace strew::test
