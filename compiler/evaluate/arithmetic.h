// Arithmetic on scalars, one operation and one rounding at a time (docs/semantics.md section 4). Arguments must have
// dtypes that verify() accepts for the operation. Floats need the default floating-point environment. Tested by
// tests/unit/compiler/evaluate/reference_arithmetic_test.cc.
#pragma once

#include "strew/export.h"
#include "strew/expr.h"
#include "strew/scalar.h"

namespace strew::inline v0::scalar_eval {

/// An operation of one argument whose result has the argument's dtype (neg ... erf), or is_finite.
STREW_API Scalar apply(ExprOp op, const Scalar& x);
/// An operation of two arguments whose result has the arguments' dtype (add ... shift_right_arithmetic), or a comparison.
STREW_API Scalar apply(ExprOp op, const Scalar& a, const Scalar& b);
/// An operation of three arguments whose result has the arguments' dtype (fma).
Scalar apply(ExprOp op, const Scalar& a, const Scalar& b, const Scalar& c);

}  // namespace strew::inline v0::scalar_eval
