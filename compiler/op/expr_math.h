// Maps operations of expressions to the table of transcendental functions (base/math).
#pragma once

#include "base/math/math.h"
#include "strew/export.h"
#include "strew/expr.h"

namespace strew::inline v0 {

/// The function that computes `op`. Null for arithmetic, comparisons, sqrt and roundings to integers, which are exact
/// or correctly rounded instructions and call no function.
STREW_API const MathFunction* find_math_function(ExprOp op);

}  // namespace strew::inline v0
