// See families.h: complex numbers by the formulas of docs/semantics.md section 4. Every operation on a part rounds on its own. Division is Smith's
// method; both arms of its branch are computed, and the right one is selected. Tested by tests/unit/backends/lower.
#include "backends/lower/families.h"

namespace strew::inline v0::lowered {
namespace {
using enum Primitive;

Complex divide(Builder& e, const Complex& a, const Complex& b) {
  const Value r1 = e(fdiv, b.im, b.re), d1 = e(add, b.re, e(mul, b.im, r1));
  const Value r2 = e(fdiv, b.re, b.im), d2 = e(add, e(mul, b.re, r2), b.im);
  const Value re1 = e(fdiv, e(add, a.re, e(mul, a.im, r1)), d1), im1 = e(fdiv, e(sub, a.im, e(mul, a.re, r1)), d1);
  const Value re2 = e(fdiv, e(add, e(mul, a.re, r2), a.im), d2), im2 = e(fdiv, e(sub, e(mul, a.im, r2), a.re), d2);
  const Value real_is_larger = float_compare(e, ExprOp::ge, e(fabs, b.re), e(fabs, b.im));
  return {e(select, real_is_larger, re1, re2), e(select, real_is_larger, im1, im2)};
}

}  // namespace

Complex complex_unary(Builder& e, ExprOp op, const Complex& a) {
  if (op != ExprOp::neg) return {};
  return {e(fneg, a.re), e(fneg, a.im)};
}

Complex complex_binary(Builder& e, ExprOp op, const Complex& a, const Complex& b) {
  switch (op) {
    case ExprOp::add:
      return {e(add, a.re, b.re), e(add, a.im, b.im)};
    case ExprOp::sub:
      return {e(sub, a.re, b.re), e(sub, a.im, b.im)};
    case ExprOp::mul:
      return {e(sub, e(mul, a.re, b.re), e(mul, a.im, b.im)), e(add, e(mul, a.re, b.im), e(mul, a.im, b.re))};
    case ExprOp::div:
      return divide(e, a, b);
    case ExprOp::rem:
    case ExprOp::min:
    case ExprOp::max:
    case STREW_EACH_OP(BINARY_MATH):
    case STREW_EACH_OP(BINARY_BITS):
    case STREW_EACH_OP(SHIFT):
    case STREW_EACH_OP(INPUT):
    case STREW_EACH_OP(CAST):
    case STREW_EACH_OP(UNARY):
    case STREW_EACH_OP(COMPLEX):
    case STREW_EACH_OP(TEST):
    case STREW_EACH_OP(COMPARE):
    case STREW_EACH_OP(SELECT):
      break;
  }
  return {};
}

Value complex_compare(Builder& e, ExprOp op, const Complex& a, const Complex& b) {
  const Value equal = e(bit_and, e(eq, a.re, b.re), e(eq, a.im, b.im));
  return op == ExprOp::eq ? equal : e.negate(equal);
}

}  // namespace strew::inline v0::lowered
