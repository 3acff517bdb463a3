// Which nodes of an expression are calls of the table of transcendental functions (base/math).
#pragma once

#include "base/math/math.h"
#include "strew/export.h"
#include "strew/expr.h"

namespace strew::inline v0 {

/// The row of `op`, or null: arithmetic, comparisons, sqrt and the roundings to integers are exact or correctly rounded
/// instructions.
STREW_API const MathFunction* find_math_function(ExprOp op);

}  // namespace strew::inline v0
