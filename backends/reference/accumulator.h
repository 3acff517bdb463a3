// The named combiners, and the wide accumulator.
#pragma once

#include "compiler/op/op.h"

namespace strew::reference {

/// current combined with an update of the same dtype. `kind` is not expr.
Scalar combine(CombinerKind kind, const Scalar& current, const Scalar& update);

/// The dtype a destination of dtype `result` folds in: its own for native; f32 (wide) or f64 (wide_f64) for floats narrower than
/// that.
DType accumulator_dtype(Accumulate accumulate, DType result);

}  // namespace strew::reference
