// What a scatter's results hold before the first update.
#pragma once

#include "backends/reference/index_space.h"

namespace strew::inline v0::reference {

/// result = operand, converted where the dtypes differ; equal dtypes keep all bits. The two may be the same buffer.
void init_copy(const BoundTensor& result, const BoundTensor& operand);
void init_fill(const BoundTensor& result, const Scalar& value);

}  // namespace strew::inline v0::reference
