// The table of transcendental functions (docs/semantics.md section 4). Every backend calls these functions and no
// others, so the bits of results agree between backends on one machine. For f64 they are the C library's functions.
// For f32, the C library's double function is evaluated and its result rounded once; fma is the C library's for both. Narrower floats are evaluated in
// f32 by the caller, which then rounds. Arguments and results are passed in registers, as in the C ABI. Tested by
// tests/unit/compiler/op/math_test.cc.
#pragma once

#include <span>

#include "strew/export.h"
#include "strew/expr_ops.def"

// STREW_MATH_UNARY(F), STREW_MATH_BINARY(F), STREW_MATH_TERNARY(F): F(NAME, ...) for each function; the names are those of ExprOp (compiler/op/expr_math.h), and what
// follows is the rest of an operator's row (expr_ops.def). Of rem, only floats are computed here.
#define STREW_MATH_UNARY(F) STREW_EXPR_UNARY_MATH(F, F)
#define STREW_MATH_BINARY(F) STREW_EXPR_BINARY_MATH(F, F) F(rem, )
#define STREW_MATH_TERNARY(F) STREW_EXPR_TERNARY_MATH(F, F)

extern "C" {
#define STREW_MATH_DECLARE(op, ...)             \
  STREW_API float strew_math_##op##_f32(float); \
  STREW_API double strew_math_##op##_f64(double);
STREW_MATH_UNARY(STREW_MATH_DECLARE)
#undef STREW_MATH_DECLARE
#define STREW_MATH_DECLARE(op, ...)                    \
  STREW_API float strew_math_##op##_f32(float, float); \
  STREW_API double strew_math_##op##_f64(double, double);
STREW_MATH_BINARY(STREW_MATH_DECLARE)
#undef STREW_MATH_DECLARE
#define STREW_MATH_DECLARE(op, ...)                           \
  STREW_API float strew_math_##op##_f32(float, float, float); \
  STREW_API double strew_math_##op##_f64(double, double, double);
STREW_MATH_TERNARY(STREW_MATH_DECLARE)
#undef STREW_MATH_DECLARE
}

namespace strew::inline v0 {

/// A row: the functions to call, and the names of their symbols in generated code. One pair of functions, the
/// unary, the binary or the ternary, is set.
struct MathFunction {
  const char* name;
  float (*unary_f32)(float);
  double (*unary_f64)(double);
  float (*binary_f32)(float, float);
  double (*binary_f64)(double, double);
  float (*ternary_f32)(float, float, float);
  double (*ternary_f64)(double, double, double);
  const char* symbol_f32;
  const char* symbol_f64;

  /// The address that a linker assigns to the symbol.
  const void* address_f32() const;
  const void* address_f64() const;
};

std::span<const MathFunction> math_functions();

}  // namespace strew::inline v0
