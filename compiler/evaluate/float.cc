// Floats: f32 and narrower dtypes are evaluated in f32, f64 in f64, and the result is rounded to the dtype. The file
// relies on the C++ compiler to round every float and double operation once, as IEEE 754 says: it is compiled with
// -ffp-contract=off, for SSE or newer. Tested by tests/unit/compiler/evaluate/reference_arithmetic_test.cc.
#include <cmath>
#include <limits>
#include <optional>

#include "base/number.h"
#include "compiler/evaluate/arithmetic.h"
#include "compiler/op/expr_math.h"

namespace strew::inline v0::scalar_eval {
namespace {

template <class T>
T table(const MathFunction& function, T x) {
  if constexpr (sizeof(T) == 4)
    return function.unary_f32(x);
  else
    return function.unary_f64(x);
}

template <class T>
T table(const MathFunction& function, T x, T y) {
  if constexpr (sizeof(T) == 4)
    return function.binary_f32(x, y);
  else
    return function.binary_f64(x, y);
}

/// IEEE 754-2019 minimum: NaN if an argument is NaN; -0 < +0.
template <class T>
T minimum(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

template <class T>
T maximum(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

template <class T>
std::optional<T> evaluate(ExprOp op, T x) {
  switch (op) {
    case ExprOp::neg:
      return -x;
    case ExprOp::abs:
      return std::fabs(x);
    case ExprOp::sign:
      return std::isnan(x) || x == 0 ? x : std::copysign(T{1}, x);
    case ExprOp::floor:
      return std::floor(x);
    case ExprOp::ceil:
      return std::ceil(x);
    case ExprOp::round_half_even:
      return std::nearbyint(x);
    case ExprOp::round_half_away:
      return std::round(x);
    case ExprOp::trunc:
      return std::trunc(x);
    case ExprOp::sqrt:
      return std::sqrt(x);
    case STREW_EACH_OP(UNARY_MATH):
      return table(*find_math_function(op), x);
    case STREW_EACH_OP(UNARY_BITS):
    case STREW_EACH_OP(UNARY_INTEGER):
    case STREW_EACH_OP(INPUT):
    case STREW_EACH_OP(CAST):
    case STREW_EACH_OP(BINARY):
    case STREW_EACH_OP(COMPLEX):
    case STREW_EACH_OP(TEST):
    case STREW_EACH_OP(COMPARE):
    case STREW_EACH_OP(SELECT):
      break;
  }
  return std::nullopt;  // verify() admits no other operator of a float
}

template <class T>
std::optional<T> evaluate(ExprOp op, T a, T b) {
  switch (op) {
    case ExprOp::add:
      return a + b;
    case ExprOp::sub:
      return a - b;
    case ExprOp::mul:
      return a * b;
    case ExprOp::div:
      return a / b;
    case ExprOp::min:
      return minimum(a, b);
    case ExprOp::max:
      return maximum(a, b);
    case ExprOp::rem:
    case STREW_EACH_OP(BINARY_MATH):
      return table(*find_math_function(op), a, b);
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
  return std::nullopt;  // verify() admits no other operator of two floats
}

float as_f32(const Scalar& x) { return static_cast<float>(decode(x.dtype, x.bits[0])); }
double as_f64(const Scalar& x) { return decode(x.dtype, x.bits[0]); }
template <class T>
Scalar rounded(DType dtype, std::optional<T> value) {
  return value ? Scalar{dtype, {encode(dtype, static_cast<double>(*value)), 0}} : Scalar{};
}

}  // namespace

Scalar apply_float(ExprOp op, const Scalar& x) {
  if (x.dtype == DType::f64) return rounded(x.dtype, evaluate<double>(op, as_f64(x)));
  return rounded(x.dtype, evaluate<float>(op, as_f32(x)));
}

Scalar apply_float(ExprOp op, const Scalar& a, const Scalar& b) {
  if (a.dtype == DType::f64) return rounded(a.dtype, evaluate<double>(op, as_f64(a), as_f64(b)));
  return rounded(a.dtype, evaluate<float>(op, as_f32(a), as_f32(b)));
}

}  // namespace strew::inline v0::scalar_eval
