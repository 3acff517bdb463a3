// Complex numbers by the formulas of docs/semantics.md section 4. They are written out because std::complex leaves its
// formulas open. Every step is rounded to the dtype of the parts. Tested by tests/unit/compiler/evaluate/reference_arithmetic_test.cc.
#include <bit>
#include <cmath>

#include "base/number.h"
#include "compiler/evaluate/arithmetic.h"

namespace strew::inline v0::scalar_eval {
namespace {

template <class T>
struct Parts {
  T re, im;
};

template <class T>
Parts<T> load(const Scalar& x) {
  const DType part = part_dtype(x.dtype);
  return {static_cast<T>(decode(part, real_bits(x))), static_cast<T>(decode(part, imaginary_bits(x)))};
}

template <class T>
Scalar store(DType dtype, Parts<T> x) {
  const DType part = part_dtype(dtype);
  return make_complex(dtype, encode(part, x.re), encode(part, x.im));
}

template <class T>
Parts<T> multiply(Parts<T> a, Parts<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/// Smith's algorithm, as docs/semantics.md has it.
template <class T>
Parts<T> divide(Parts<T> a, Parts<T> b) {
  if (std::fabs(b.re) >= std::fabs(b.im)) {
    const T r = b.im / b.re;
    const T d = b.re + b.im * r;
    return {(a.re + a.im * r) / d, (a.im - a.re * r) / d};
  }
  const T r = b.re / b.im;
  const T d = b.re * r + b.im;
  return {(a.re * r + a.im) / d, (a.im * r - a.re) / d};
}

template <class T>
Scalar evaluate(ExprOp op, const Scalar& x, const Scalar& y) {
  const Parts<T> a = load<T>(x), b = load<T>(y);
  switch (op) {
    case ExprOp::add:
      return store<T>(x.dtype, {a.re + b.re, a.im + b.im});
    case ExprOp::sub:
      return store<T>(x.dtype, {a.re - b.re, a.im - b.im});
    case ExprOp::mul:
      return store<T>(x.dtype, multiply(a, b));
    case ExprOp::div:
      return store<T>(x.dtype, divide(a, b));
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
  return {};  // verify() admits no other operator of two complex numbers
}

}  // namespace

Scalar apply_complex(ExprOp op, const Scalar& x) {
  if (op != ExprOp::neg) return {};  // verify() admits no other operator of a complex number
  const uint64_t sign = uint64_t{1} << (bits(x.dtype) / 2 - 1);
  return make_complex(x.dtype, real_bits(x) ^ sign, imaginary_bits(x) ^ sign);
}

Scalar apply_complex(ExprOp op, const Scalar& a, const Scalar& b) {
  return a.dtype == DType::complex64 ? evaluate<float>(op, a, b) : evaluate<double>(op, a, b);
}

}  // namespace strew::inline v0::scalar_eval
