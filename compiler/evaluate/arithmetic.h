// Arithmetic on scalars, one operation and one rounding at a time (semantics.md section 4). Arguments have the dtypes verify()
// asked for.
#pragma once

#include "strew/expr.h"
#include "strew/scalar.h"

namespace strew::inline v0::evaluate {

/// One-argument nodes whose result has the argument's dtype: neg ... erf.
Scalar apply(ExprOp op, const Scalar& x);
/// Two-argument nodes whose result has the arguments' dtype: add ... shift_right_arithmetic.
Scalar apply(ExprOp op, const Scalar& a, const Scalar& b);
/// eq ... ge.
bool compare(ExprOp op, const Scalar& a, const Scalar& b);
bool is_finite(const Scalar& x);

// By kind of dtype, each in its own file; apply() picks.
Scalar apply_integer(ExprOp op, const Scalar& x);
Scalar apply_integer(ExprOp op, const Scalar& a, const Scalar& b);
Scalar apply_boolean(ExprOp op, const Scalar& a, const Scalar& b);
Scalar apply_float(ExprOp op, const Scalar& x);
Scalar apply_float(ExprOp op, const Scalar& a, const Scalar& b);
Scalar apply_complex(ExprOp op, const Scalar& x);
Scalar apply_complex(ExprOp op, const Scalar& a, const Scalar& b);

}  // namespace strew::inline v0::evaluate
