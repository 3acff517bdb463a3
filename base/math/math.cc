// See math.h. Each function is written once, for double; the function for f32 converts its argument to double, calls
// it and rounds the result once. rem is in the table because every target implements it by a library call. It is
// exact: fmod of two floats is a float, so the rounding to f32 changes nothing. rsqrt and logistic have no C
// function: the formulas here are their definition. Tested by tests/unit/compiler/op/math_test.
#include "base/math/math.h"

#include <cmath>

namespace {

double strew_exp(double x) { return std::exp(x); }
double strew_expm1(double x) { return std::expm1(x); }
double strew_exp2(double x) { return std::exp2(x); }
double strew_log(double x) { return std::log(x); }
double strew_log1p(double x) { return std::log1p(x); }
double strew_log2(double x) { return std::log2(x); }
double strew_tanh(double x) { return std::tanh(x); }
double strew_logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double strew_sin(double x) { return std::sin(x); }
double strew_cos(double x) { return std::cos(x); }
double strew_tan(double x) { return std::tan(x); }
double strew_erf(double x) { return std::erf(x); }
double strew_cbrt(double x) { return std::cbrt(x); }
double strew_rsqrt(double x) { return 1.0 / std::sqrt(x); }
double strew_pow(double x, double y) { return std::pow(x, y); }
double strew_atan2(double y, double x) { return std::atan2(y, x); }
double strew_rem(double x, double y) { return std::fmod(x, y); }

}  // namespace

extern "C" {
#define STREW_MATH_DEFINE(op, ...)                                                                        \
  float strew_math_##op##_f32(float x) { return static_cast<float>(strew_##op(static_cast<double>(x))); } \
  double strew_math_##op##_f64(double x) { return strew_##op(x); }
STREW_MATH_UNARY(STREW_MATH_DEFINE)
#undef STREW_MATH_DEFINE
#define STREW_MATH_DEFINE(op, ...)                                                         \
  float strew_math_##op##_f32(float x, float y) {                                          \
    return static_cast<float>(strew_##op(static_cast<double>(x), static_cast<double>(y))); \
  }                                                                                        \
  double strew_math_##op##_f64(double x, double y) { return strew_##op(x, y); }
STREW_MATH_BINARY(STREW_MATH_DEFINE)
#undef STREW_MATH_DEFINE
// One rounding, of which a double's would be the first of two.
float strew_math_fma_f32(float x, float y, float z) { return std::fma(x, y, z); }
double strew_math_fma_f64(double x, double y, double z) { return std::fma(x, y, z); }
}

namespace strew::inline v0 {
namespace {

#define STREW_MATH_SYMBOLS(op) "strew_math_" #op "_f32", "strew_math_" #op "_f64"
#define STREW_MATH_ROW_UNARY(op, ...) \
  {#op, strew_math_##op##_f32, strew_math_##op##_f64, nullptr, nullptr, nullptr, nullptr, STREW_MATH_SYMBOLS(op)},
#define STREW_MATH_ROW_BINARY(op, ...) \
  {#op, nullptr, nullptr, strew_math_##op##_f32, strew_math_##op##_f64, nullptr, nullptr, STREW_MATH_SYMBOLS(op)},
#define STREW_MATH_ROW_TERNARY(op, ...) \
  {#op, nullptr, nullptr, nullptr, nullptr, strew_math_##op##_f32, strew_math_##op##_f64, STREW_MATH_SYMBOLS(op)},
constexpr MathFunction kTable[] = {STREW_MATH_UNARY(STREW_MATH_ROW_UNARY) STREW_MATH_BINARY(STREW_MATH_ROW_BINARY)
                                       STREW_MATH_TERNARY(STREW_MATH_ROW_TERNARY)};
#undef STREW_MATH_ROW_UNARY
#undef STREW_MATH_ROW_BINARY
#undef STREW_MATH_ROW_TERNARY
#undef STREW_MATH_SYMBOLS

/// The one that is set.
template <class Unary, class Binary, class Ternary>
const void* address(Unary unary, Binary binary, Ternary ternary) {
  if (unary != nullptr) return reinterpret_cast<const void*>(unary);
  return binary != nullptr ? reinterpret_cast<const void*>(binary) : reinterpret_cast<const void*>(ternary);
}

}  // namespace

const void* MathFunction::address_f32() const { return address(unary_f32, binary_f32, ternary_f32); }
const void* MathFunction::address_f64() const { return address(unary_f64, binary_f64, ternary_f64); }

std::span<const MathFunction> math_functions() { return kTable; }

}  // namespace strew::inline v0
