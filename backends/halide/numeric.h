// Numeric: arithmetic on strew's dtypes as Halide expressions.
//
// Everything where Halide's own meaning differs from semantics.md, or is undefined, is spelled out here in operations that have one meaning:
// integers are unsigned throughout (Halide may assume that signed 32-bit ones do not overflow), float signs and NaNs are read as bits,
// minimum, division, shifts and narrowing are written down, and transcendentals call the runtime's table. Storage is always an unsigned
// integer; 16-byte elements are two of 64 bits. Compute form: bool: Bool; integers: UInt, narrower than a byte kept extended to one; floats of at
// most 32 bits: Float(32); f64: Float(64); complex: two floats.
#pragma once

#include <Halide.h>

#include "base/dtype.h"
#include "compiler/op/expr.h"

namespace strew {

using HExpr = Halide::Expr;  ///< strew::Expr is a graph

/// One value, or the two parts of one: real and imaginary, low and high half.
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

  /// One rounding from the exact value, as Numeric::convert of backends/llvm.
  Parts convert(DType from, DType to, const Parts& value) const;
  Parts bitcast(DType from, DType to, const Parts& compute) const;
  Parts choose(DType dtype, const HExpr& condition, const Parts& a, const Parts& b) const;  ///< storage

  Parts unary(ExprOp op, DType dtype, const Parts& a) const;
  Parts binary(ExprOp op, DType dtype, const Parts& a, const Parts& b) const;
  HExpr is_finite(const HExpr& a) const;
  HExpr compare(ExprOp op, DType dtype, const Parts& a, const Parts& b) const;

  /// Does arithmetic in this dtype need a rounding after each node?
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

}  // namespace strew
