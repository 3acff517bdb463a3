// HalideNumeric: arithmetic on strew's dtypes as Halide expressions.
//
// Where an operation of Halide means something else than docs/semantics.md says, or is undefined, it is replaced by operations that have one
// meaning. Integers are unsigned throughout, because Halide may assume that signed 32-bit integers do not overflow. Signs and NaNs of floats are
// read from their bits. Minimum, maximum, division, shifts and narrowing are written out, and transcendental functions call the math table
// (base/math).
//
// The storage form of every dtype is an unsigned integer; of 16-byte elements, two of 64 bits. The compute form is Bool for bool, UInt for
// integers (those narrower than a byte are kept extended to a byte), Float(32) for floats of at most 32 bits, Float(64) for f64, and two floats
// for complex. Tested by tests/differential.
#pragma once

#include <Halide.h>

#include "strew/dtype.h"
#include "strew/expr.h"

namespace strew::inline v0 {

using HExpr = Halide::Expr;  ///< named so because strew::Expr is another type, the expression graph

/// A value: one expression, or two for a complex number (real and imaginary part) and a 16-byte storage form (low and high half).
struct Parts {
  HExpr a, b;
};

HExpr unsigned_constant(int bits, uint64_t value);

class HalideNumeric {
 public:
  explicit HalideNumeric(bool f16c) : f16c_(f16c) {}

  Parts decode(DType dtype, const Parts& storage) const;
  Parts encode(DType dtype, const Parts& compute) const;
  Parts literal_storage(const Scalar& scalar) const;

  /// Converts with one rounding from the exact value, as Numeric::convert of backends/llvm does.
  Parts convert(DType from, DType to, const Parts& value) const;
  Parts bitcast(DType from, DType to, const Parts& compute) const;
  /// condition ? a : b, of storage forms.
  Parts choose(DType dtype, const HExpr& condition, const Parts& a, const Parts& b) const;

  Parts unary(ExprOp op, DType dtype, const Parts& a) const;
  Parts binary(ExprOp op, DType dtype, const Parts& a, const Parts& b) const;
  HExpr is_finite(const HExpr& a) const;
  HExpr compare(ExprOp op, DType dtype, const Parts& a, const Parts& b) const;

  /// Must the results of operators in this dtype be rounded, because they are computed in a wider type?
  static bool rounds_after(DType dtype) { return is_float(dtype) && bits(dtype) <= 16; }

 private:
  HExpr decode_small(DType dtype, const HExpr& storage) const;  // numeric_small.cc
  HExpr encode_small(DType dtype, const HExpr& compute) const;
  HExpr to_bf16(const HExpr& value) const;
  HExpr int_to_float(DType from, DType to, const HExpr& value) const;
  HExpr float_to_int(DType to, const HExpr& value) const;
  HExpr odd_float(const HExpr& value) const;
  HExpr int_binary(ExprOp op, DType dtype, const HExpr& a, const HExpr& b) const;
  HExpr int_divide(ExprOp op, DType dtype, const HExpr& a, const HExpr& b) const;
  HExpr int_shift(ExprOp op, DType dtype, const HExpr& a, const HExpr& b) const;
  HExpr int_unary(ExprOp op, DType dtype, const HExpr& a) const;
  HExpr float_unary(ExprOp op, const HExpr& a) const;
  HExpr float_binary(ExprOp op, const HExpr& a, const HExpr& b) const;
  HExpr float_compare(ExprOp op, const HExpr& x, const HExpr& y) const;
  Parts complex_binary(ExprOp op, const Parts& a, const Parts& b) const;

  bool f16c_;
};

}  // namespace strew::inline v0
