// See families.h: f32 and f64, and conversions between integers and floats.
//
// f64 and 64-bit integers become floats of 16 bits and less in two steps, of which the first rounds to odd: the f32 with an odd last bit is taken
// wherever the value lies between two. Its 24 bits tell the second step enough to round as if from the exact value.
// Tested by tests/unit/backends/lower and, exhaustively for bf16 and f16, by tests/oracle/narrow_floats.
#include "backends/lower/families.h"
#include "base/math/math.h"

namespace strew::inline v0::lowered {
namespace {
using P = Primitive;

/// The operations of the math table's rsqrt (base/math/math.cc): IEEE 754 says what the bits of each of them are, so vectors can have it, too.
Value inverse_root(Builder& e, Value a) {
  const Value wide = a.type == Machine::f64 ? a : e.to(Machine::f64, P::fpext, a);
  const Value inverse = e(P::fdiv, e.number(Machine::f64, 1), e(P::sqrt, wide));
  return a.type == Machine::f64 ? inverse : e.to(Machine::f32, P::fptrunc, inverse);
}

Value odd_float(Builder& e, Value a) {
  const Value nearest = e.to(Machine::f32, P::fptrunc, a), back = e.to(Machine::f64, P::fpext, nearest);
  const Value too_far = e(P::flt, e(P::fabs, a), e(P::fabs, back)), inexact = e.negate(e(P::eq, back, a));
  const Value toward_zero = e(P::sub, e.bits_of(nearest), e.to(Machine::i32, P::zext, too_far));
  return e.float_of(e(P::bit_or, toward_zero, e.to(Machine::i32, P::zext, inexact)));
}

/// From 2^53 on, an f64 cannot hold all bits of an i64. There the lowest 11 are cleared, and the bit above them is set if any of them was.
Value folded_to_53_bits(Builder& e, bool is_signed, Value a) {
  const Value size = is_signed ? e(P::iabs, a) : a;
  const Value any_low = e.negate(e(P::eq, e(P::bit_and, a, e.same(a, 0x7ff)), e.same(a, 0)));
  const Value sticky = e(P::shl, e.to(Machine::i64, P::zext, any_low), e.same(a, 11));
  const Value folded = e(P::bit_or, e(P::bit_and, a, e.same(a, ~uint64_t{0x7ff})), sticky);
  return e(P::select, e(P::ult, size, e.same(a, uint64_t{1} << 53)), a, folded);
}

struct Floats : Order<Floats, Value> {
  static constexpr unsigned kTakes = expr_dtypes::floats;

  static Value add(Builder& e, Value a, Value b) { return e(P::add, a, b); }
  static Value sub(Builder& e, Value a, Value b) { return e(P::sub, a, b); }
  static Value mul(Builder& e, Value a, Value b) { return e(P::mul, a, b); }
  static Value div(Builder& e, Value a, Value b) { return e(P::fdiv, a, b); }
  static Value min(Builder& e, Value a, Value b) { return e(P::fmin, a, b); }
  static Value max(Builder& e, Value a, Value b) { return e(P::fmax, a, b); }
  static Value eq(Builder& e, Value a, Value b) { return e(P::eq, a, b); }
  static Value lt(Builder& e, Value a, Value b) { return e(P::flt, a, b); }
  static Value le(Builder& e, Value a, Value b) { return e(P::bit_or, e(P::flt, a, b), e(P::eq, a, b)); }
  static Value ge(Builder& e, Value a, Value b) { return le(e, b, a); }

  static Value neg(Builder& e, Value a) { return e(P::fneg, a); }
  static Value abs(Builder& e, Value a) { return e(P::fabs, a); }
  static Value sign(Builder& e,
                    Value a) {  // zeros keep their sign, also subnormals that count as zeros (Target::host_fp); NaN stays
    const Value zero = e.number(a.type, 0), size = e(P::select, e(P::eq, a, zero), zero, e.number(a.type, 1));
    return e(P::select, e(P::unordered, a, a), a, e(P::copysign, size, a));
  }
  static Value floor(Builder& e, Value a) { return e(P::floor, a); }
  static Value ceil(Builder& e, Value a) { return e(P::ceil, a); }
  static Value round_half_even(Builder& e, Value a) { return e(P::roundeven, a); }
  static Value round_half_away(Builder& e, Value a) { return e(P::round, a); }
  static Value trunc(Builder& e, Value a) { return e(P::ftrunc, a); }
  static Value fma(Builder& e, Value a, Value b, Value c) { return e(P::fma, a, b, c); }
  static Value sqrt(Builder& e, Value a) { return e(P::sqrt, a); }
  static Value is_finite(Builder& e, Value a) {
    return e(P::flt, e(P::fabs, a), e.constant(a.type, a.type == Machine::f32 ? 0x7f800000 : uint64_t{0x7ff} << 52));
  }
#define STREW_MATH_CALL(op, ...) \
  static Value op(Builder& e, Value a) { return ExprOp::op == ExprOp::rsqrt ? inverse_root(e, a) : e.call(ExprOp::op, a); }
  STREW_MATH_UNARY(STREW_MATH_CALL)
#undef STREW_MATH_CALL
#define STREW_MATH_CALL(op, ...) \
  static Value op(Builder& e, Value a, Value b) { return e.call(ExprOp::op, a, b); }
  STREW_MATH_BINARY(STREW_MATH_CALL)
#undef STREW_MATH_CALL
};

}  // namespace

Parts lower_float(Builder& e, ExprOp op, Value a, Value b, Value c) {
  if (c.node >= 0) return apply<Floats>(e, op, a, b, c);
  return b.node < 0 ? apply<Floats>(e, op, a) : apply<Floats>(e, op, a, b);
}

Value float_to_float(Builder& e, DType to, Value a) {
  if (a.type == Machine::f32) return to == DType::f64 ? e.to(Machine::f64, P::fpext, a) : a;
  if (to == DType::f64) return a;
  return to == DType::f32 ? e.to(Machine::f32, P::fptrunc, a) : odd_float(e, a);
}

Value integer_to_float(Builder& e, const Integer& a, DType to) {
  const bool is_signed = is_signed_integer(a.dtype);
  const auto direct = [&](Machine type, Value v) { return e.to(type, is_signed ? P::sitofp : P::uitofp, v); };
  if (to == DType::f64) return direct(Machine::f64, a.value);
  if (to == DType::f32 || bits(a.dtype) <= 16) return direct(Machine::f32, a.value);
  return odd_float(e, direct(Machine::f64, bits(a.dtype) == 64 ? folded_to_53_bits(e, is_signed, a.value) : a.value));
}

/// Rounds toward zero and saturates; NaN gives 0.
Value float_to_integer(Builder& e, DType to, Value a) {
  const bool is_signed = is_signed_integer(to);
  const Value held = e.to(part_type(to), is_signed ? P::fptosi_sat : P::fptoui_sat, a);
  if (bits(to) >= 8) return held;
  const uint64_t most = (uint64_t{1} << (bits(to) - (is_signed ? 1 : 0))) - 1;
  return is_signed ? e(P::smax, e(P::smin, held, e.same(held, most)), e.same(held, ~most)) : e(P::umin, held, e.same(held, most));
}

}  // namespace strew::inline v0::lowered
