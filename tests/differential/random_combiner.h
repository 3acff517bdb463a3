// What random ops combine with.
#pragma once

#include "strew/op.h"

namespace strew::test {

/// Does this combiner take values of this dtype?
bool combines(CombinerKind combiner, DType dtype);

/// Gives the scatter, whose combiner is min or max, the expression and, with init fill, the fill with which result 1 says which position won
/// (ScatterBuilder::return_arg). Result 0 has the dtype.
void return_arg(Scatter& scatter, DType dtype);

}  // namespace strew::test
