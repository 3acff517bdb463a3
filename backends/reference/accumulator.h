// The dtype of the wide accumulator.
#pragma once

#include "strew/op.h"

namespace strew::inline v0::reference {

/// The dtype a destination of dtype `result` folds in: its own for native; f32 (wide) or f64 (wide_f64) for floats narrower than
/// that.
DType accumulator_dtype(Accumulate accumulate, DType result);

}  // namespace strew::inline v0::reference
