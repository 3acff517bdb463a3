// Arithmetic on scalars, one operation and one rounding at a time (docs/semantics.md section 4). Arguments must have
// dtypes that verify() accepts for the operation. Floats need the default floating-point environment. Tested by
// tests/unit/compiler/evaluate/reference_arithmetic_test.cc.
#pragma once

#include "strew/expr.h"
#include "strew/scalar.h"

namespace strew::inline v0::scalar_eval {

/// An operation of one argument whose result has the argument's dtype: neg ... erf.
Scalar apply(ExprOp op, const Scalar& x);
/// An operation of two arguments whose result has the arguments' dtype: add ... shift_right_arithmetic.
Scalar apply(ExprOp op, const Scalar& a, const Scalar& b);
/// A comparison: eq ... ge.
bool compare(ExprOp op, const Scalar& a, const Scalar& b);
bool is_finite(const Scalar& x);

// apply() for one kind of dtype. Integers and bool are in integer.cc, the others in float.cc and complex.cc.
Scalar apply_integer(ExprOp op, const Scalar& x);
Scalar apply_integer(ExprOp op, const Scalar& a, const Scalar& b);
Scalar apply_boolean(ExprOp op, const Scalar& a, const Scalar& b);
Scalar apply_float(ExprOp op, const Scalar& x);
Scalar apply_float(ExprOp op, const Scalar& a, const Scalar& b);
Scalar apply_complex(ExprOp op, const Scalar& x);
Scalar apply_complex(ExprOp op, const Scalar& a, const Scalar& b);

}  // namespace strew::inline v0::scalar_eval
