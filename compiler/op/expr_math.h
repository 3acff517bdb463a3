// Which nodes of an expression are calls of the table of transcendental functions (base/math).
#pragma once

#include "base/math/math.h"
#include "strew/expr.h"

namespace strew {

/// The row of `op`, or null: arithmetic, comparisons, sqrt and the roundings to integers are exact or correctly rounded
/// instructions.
const MathFunction* find_math_function(ExprOp op);

}  // namespace strew
