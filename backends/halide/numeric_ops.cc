// See numeric.h. This file has the operators of expression graphs, as docs/semantics.md section 4 defines them.
// Tested by tests/differential on every dtype.
#include "backends/halide/numeric.h"
#include "backends/halide/numeric_bits.h"
#include "compiler/op/expr_math.h"

namespace strew::inline v0 {
using namespace halide_bits;
using Halide::cast;
using Halide::UInt;
using Halide::Internal::Call;

namespace {

/// Calls a function of the math table (base/math). Every backend calls the same functions, so the bits agree.
HExpr call_math(ExprOp op, const std::vector<HExpr>& arguments) {
  const MathFunction* row = find_math_function(op);
  const Halide::Type type = arguments[0].type();
  return Call::make(type, type.bits() == 32 ? row->symbol_f32 : row->symbol_f64, arguments, Call::PureExtern);
}

uint64_t ones(DType dtype) { return bits(dtype) == 64 ? ~uint64_t{0} : (uint64_t{1} << bits(dtype)) - 1; }

HExpr is_negative(const HExpr& e) { return (e & constant(e, sign_bit(e))) != constant(e, 0); }
HExpr negated(const HExpr& e) { return constant(e, 0) - e; }

}  // namespace

Parts HalideNumeric::unary(ExprOp op, DType dtype, const Parts& a) const {
  // Of complex numbers verify() admits neg only.
  if (is_complex(dtype)) return {float_unary(ExprOp::neg, a.a), float_unary(ExprOp::neg, a.b)};
  if (is_float(dtype)) return {float_unary(op, a.a), {}};
  if (dtype == DType::boolean) return {op == ExprOp::bit_not ? !a.a : a.a, {}};
  return {int_unary(op, dtype, a.a), {}};
}

HExpr HalideNumeric::int_unary(ExprOp op, DType dtype, const HExpr& a) const {
  const HExpr zero = constant(a, 0), code = a & constant(a, ones(dtype));
  switch (op) {
    case ExprOp::neg:
      return extended(dtype, negated(a));
    case ExprOp::abs:
      return is_signed_integer(dtype) ? extended(dtype, Halide::select(is_negative(a), negated(a), a)) : a;
    case ExprOp::sign: {
      const HExpr positive = cast(a.type(), a != zero);
      if (!is_signed_integer(dtype)) return positive;
      return Halide::select(is_negative(a), constant(a, ~uint64_t{0}), positive);
    }
    case ExprOp::bit_not:
      return extended(dtype, a ^ constant(a, ~uint64_t{0}));
    case ExprOp::popcnt:
      return extended(dtype, Halide::popcount(code));
    case ExprOp::count_leading_zeros: {
      const HExpr spare = constant(a, static_cast<uint64_t>(a.type().bits() - bits(dtype)));
      const HExpr width = constant(a, static_cast<uint64_t>(bits(dtype)));
      return extended(dtype, Halide::select(code == zero, width, Halide::count_leading_zeros(code | constant(code, 1)) - spare));
    }
    case STREW_EACH_OP(UNARY_FLOAT):
    case STREW_EACH_OP(UNARY_MATH):
    case STREW_EACH_OP(INPUT):
    case STREW_EACH_OP(CAST):
    case STREW_EACH_OP(BINARY):
    case STREW_EACH_OP(COMPLEX):
    case STREW_EACH_OP(TEST):
    case STREW_EACH_OP(COMPARE):
    case STREW_EACH_OP(SELECT):
      break;
  }
  return {};  // verify() admits no other operator of an integer
}

HExpr HalideNumeric::float_unary(ExprOp op, const HExpr& a) const {
  const HExpr bits = as_unsigned(a);
  const uint64_t sign = sign_bit(bits);
  const auto with_sign_of_a = [&](uint64_t value) { return as_float((bits & constant(bits, sign)) | constant(bits, value)); };
  const bool single = a.type().bits() == 32;
  switch (op) {
    case ExprOp::neg:
      return as_float(bits ^ constant(bits, sign));
    case ExprOp::abs:
      return as_float(magnitude(a));
    case ExprOp::sign: {  // zeros keep their sign, NaN stays
      const HExpr stays = nan_bits(a) || magnitude(a) == constant(bits, 0);
      return Halide::select(stays, a, with_sign_of_a(single ? 0x3f800000u : uint64_t{0x3ff} << 52));
    }
    case ExprOp::floor:
      return Halide::floor(a);
    case ExprOp::ceil:
      return Halide::ceil(a);
    case ExprOp::trunc:
      return Halide::trunc(a);
    case ExprOp::round_half_even:
      return Halide::round(a);
    case ExprOp::round_half_away: {
      const HExpr whole = Halide::trunc(a);
      const HExpr rest = magnitude(a - whole);
      const HExpr half = constant(rest, single ? 0x3f000000u : uint64_t{0x3fe} << 52);
      return Halide::select(rest >= half, whole + with_sign_of_a(single ? 0x3f800000u : uint64_t{0x3ff} << 52), whole);
    }
    case ExprOp::sqrt:
      return Halide::sqrt(a);
    case STREW_EACH_OP(UNARY_MATH):
      return call_math(op, {a});
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
  return {};  // verify() admits no other operator of a float
}

Parts HalideNumeric::binary(ExprOp op, DType dtype, const Parts& a, const Parts& b) const {
  if (is_complex(dtype)) return complex_binary(op, a, b);
  if (is_float(dtype)) return {float_binary(op, a.a, b.a), {}};
  if (dtype != DType::boolean) return {int_binary(op, dtype, a.a, b.a), {}};
  switch (op) {
    case ExprOp::mul:
    case ExprOp::min:
    case ExprOp::bit_and:
      return {a.a && b.a, {}};
    case ExprOp::bit_xor:
      return {a.a != b.a, {}};
    case ExprOp::add:
    case ExprOp::max:
    case ExprOp::bit_or:
      return {a.a || b.a, {}};
    case ExprOp::sub:
    case ExprOp::div:
    case ExprOp::rem:
    case STREW_EACH_OP(BINARY_MATH):
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
  return {};  // verify() admits no other operator of two bools
}

HExpr HalideNumeric::float_binary(ExprOp op, const HExpr& a, const HExpr& b) const {
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
    case ExprOp::max: {
      // The comparison chooses `second` if neither operand is less. Equal operands differ only if they are zeros of different sign: `second` is the
      // negative one for min and the positive one for max. No comparison with a NaN holds, so a NaN in `second` is chosen by it; a NaN in `first`
      // is chosen by the second select.
      const bool low = op == ExprOp::min;
      const HExpr negative = as_signed(as_unsigned(a)) < 0;
      const HExpr first = low ? Halide::select(negative, b, a) : Halide::select(negative, a, b);
      const HExpr second = low ? Halide::select(negative, a, b) : Halide::select(negative, b, a);
      const HExpr chosen = Halide::select(low ? first < second : second < first, first, second);
      return Halide::select(nan_bits(first), first, chosen);
    }
    case ExprOp::rem:
    case STREW_EACH_OP(BINARY_MATH):
      return call_math(op, {a, b});
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
  return {};  // verify() admits no other operator of two floats
}

HExpr HalideNumeric::int_binary(ExprOp op, DType dtype, const HExpr& a, const HExpr& b) const {
  const bool is_signed = is_signed_integer(dtype);
  const HExpr less = is_signed ? as_signed(a) < as_signed(b) : a < b;
  switch (op) {
    case ExprOp::add:
      return extended(dtype, a + b);
    case ExprOp::sub:
      return extended(dtype, a - b);
    case ExprOp::mul:
      return extended(dtype, a * b);
    case ExprOp::div:
    case ExprOp::rem:
      return int_divide(op, dtype, a, b);
    case ExprOp::min:
      return Halide::select(less, a, b);
    case ExprOp::max:
      return Halide::select(less, b, a);
    case ExprOp::bit_and:
      return a & b;
    case ExprOp::bit_or:
      return a | b;
    case ExprOp::bit_xor:
      return a ^ b;
    case STREW_EACH_OP(SHIFT):
      return int_shift(op, dtype, a, b);
    case STREW_EACH_OP(BINARY_MATH):
    case STREW_EACH_OP(INPUT):
    case STREW_EACH_OP(CAST):
    case STREW_EACH_OP(UNARY):
    case STREW_EACH_OP(COMPLEX):
    case STREW_EACH_OP(TEST):
    case STREW_EACH_OP(COMPARE):
    case STREW_EACH_OP(SELECT):
      break;
  }
  return {};  // verify() admits no other operator of two integers
}

/// Divides magnitudes and applies the sign afterwards. So MIN / -1 does not overflow, and Halide's rounding of signed quotients toward minus
/// infinity does not matter.
HExpr HalideNumeric::int_divide(ExprOp op, DType dtype, const HExpr& a, const HExpr& b) const {
  const HExpr zero = constant(a, 0);
  const auto size = [&](const HExpr& e) { return is_signed_integer(dtype) ? Halide::select(is_negative(e), negated(e), e) : e; };
  const HExpr by_zero = b == zero;
  const HExpr divisor = Halide::select(by_zero, constant(b, 1), size(b));
  if (op == ExprOp::rem) {
    const HExpr rest = size(a) % divisor;
    const HExpr with_sign = is_signed_integer(dtype) ? Halide::select(is_negative(a), negated(rest), rest) : rest;
    return extended(dtype, Halide::select(by_zero, a, with_sign));
  }
  const HExpr quotient = size(a) / divisor;
  const HExpr with_sign = is_signed_integer(dtype) ? Halide::select(is_negative(a ^ b), negated(quotient), quotient) : quotient;
  return extended(dtype, Halide::select(by_zero, constant(a, ~uint64_t{0}), with_sign));
}

HExpr HalideNumeric::int_shift(ExprOp op, DType dtype, const HExpr& a, const HExpr& b) const {
  const HExpr last = constant(b, static_cast<uint64_t>(bits(dtype) - 1));
  const HExpr wanted = b & constant(b, ones(dtype));
  const HExpr too_far = wanted > last;
  const HExpr amount = Halide::select(too_far, last, wanted);
  if (op == ExprOp::shift_right_arithmetic) {
    // The value is shifted as a signed one, whatever the dtype's signedness.
    const HExpr spare = constant(a, static_cast<uint64_t>(a.type().bits() - bits(dtype)));
    return extended(dtype, as_unsigned((as_signed(a << spare) >> spare) >> amount));
  }
  const HExpr shifted = op == ExprOp::shift_left ? a << amount : (a & constant(a, ones(dtype))) >> amount;
  return extended(dtype, Halide::select(too_far, constant(a, 0), shifted));
}

HExpr HalideNumeric::is_finite(const HExpr& a) const {
  const HExpr m = magnitude(a);
  return m < constant(m, infinity_bits(a));
}

/// Comparisons of floats that are right for NaNs. Of Halide's own only `<` is: its simplifier turns x >= y into not x < y, and x == x into true.
HExpr HalideNumeric::float_compare(ExprOp op, const HExpr& x, const HExpr& y) const {
  const HExpr ordered = !nan_bits(x) && !nan_bits(y);
  switch (op) {
    case ExprOp::eq:
      return ordered && x == y;
    case ExprOp::ne:
      return !(ordered && x == y);
    case ExprOp::lt:
      return x < y;
    case ExprOp::le:
      return ordered && !(y < x);
    case ExprOp::gt:
      return y < x;
    case ExprOp::ge:
      return ordered && !(x < y);
    case STREW_EACH_OP(INPUT):
    case STREW_EACH_OP(CAST):
    case STREW_EACH_OP(BINARY):
    case STREW_EACH_OP(UNARY):
    case STREW_EACH_OP(COMPLEX):
    case STREW_EACH_OP(TEST):
    case STREW_EACH_OP(SELECT):
      break;
  }
  return {};  // no comparison
}

HExpr HalideNumeric::compare(ExprOp op, DType dtype, const Parts& a, const Parts& b) const {
  if (is_complex(dtype)) {
    const HExpr equal = float_compare(ExprOp::eq, a.a, b.a) && float_compare(ExprOp::eq, a.b, b.b);
    return op == ExprOp::eq ? equal : !equal;
  }
  if (is_float(dtype)) return float_compare(op, a.a, b.a);
  HExpr x = a.a, y = b.a;
  if (dtype == DType::boolean) {
    x = cast(UInt(8), x);
    y = cast(UInt(8), y);
  } else if (is_signed_integer(dtype) && op != ExprOp::eq && op != ExprOp::ne) {
    // Equality stays unsigned: Halide folds it as a difference, which may overflow a signed type.
    x = as_signed(x);
    y = as_signed(y);
  }
  switch (op) {
    case ExprOp::eq:
      return x == y;
    case ExprOp::ne:
      return x != y;
    case ExprOp::lt:
      return x < y;
    case ExprOp::le:
      return x <= y;
    case ExprOp::gt:
      return x > y;
    case ExprOp::ge:
      return x >= y;
    case STREW_EACH_OP(INPUT):
    case STREW_EACH_OP(CAST):
    case STREW_EACH_OP(BINARY):
    case STREW_EACH_OP(UNARY):
    case STREW_EACH_OP(COMPLEX):
    case STREW_EACH_OP(TEST):
    case STREW_EACH_OP(SELECT):
      break;
  }
  return {};  // no comparison
}

Parts HalideNumeric::complex_binary(ExprOp op, const Parts& a, const Parts& b) const {
  switch (op) {
    case ExprOp::add:
      return {a.a + b.a, a.b + b.b};
    case ExprOp::sub:
      return {a.a - b.a, a.b - b.b};
    case ExprOp::mul:
      return {a.a * b.a - a.b * b.b, a.a * b.b + a.b * b.a};
    case ExprOp::div:
      break;
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
      return {};  // verify() admits no other operator of two complex numbers
  }
  // Division by Smith's method: both arms of its branch are computed, and the right one is selected.
  const HExpr real_is_larger = magnitude(b.a) >= magnitude(b.b);
  const HExpr r1 = b.b / b.a, d1 = b.a + b.b * r1;
  const HExpr r2 = b.a / b.b, d2 = b.a * r2 + b.b;
  return {Halide::select(real_is_larger, (a.a + a.b * r1) / d1, (a.a * r2 + a.b) / d2),
          Halide::select(real_is_larger, (a.b - a.a * r1) / d1, (a.b * r2 - a.a) / d2)};
}

}  // namespace strew::inline v0
