// The initial values of a scatter's results, before the first update. Init `in_place` needs no function here: the
// result already holds them. Tested by tests/unit/backends/reference/reference_scatter_test.cc.
#pragma once

#include "backends/reference/index_space.h"

namespace strew::inline v0::reference {

/// Copies the operand to the result. Different dtypes are converted; equal dtypes keep all bits. Both may be the same
/// buffer.
void init_copy(const BoundTensor& result, const BoundTensor& operand);
void init_fill(const BoundTensor& result, const Scalar& value);

}  // namespace strew::inline v0::reference
