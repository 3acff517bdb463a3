// The dtype in which the reference accumulates. Tested by tests/unit/compiler/evaluate/reference_arithmetic_test.cc.
#pragma once

#include "strew/op.h"

namespace strew::inline v0::reference {

/// The dtype of the accumulator of a destination of dtype `result`. Native accumulation uses `result` itself; wide uses
/// f32 and wide_f64 uses f64 for floats that are narrower, and `result` for all other dtypes.
DType accumulator_dtype(Accumulate accumulate, DType result);

}  // namespace strew::inline v0::reference
