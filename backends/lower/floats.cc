// See families.h: f32 and f64, and conversions between integers and floats.
//
// f64 and 64-bit integers become floats of 16 bits and less in two steps, of which the first rounds to odd: the f32 with an odd last bit is taken
// wherever the value lies between two. Its 24 bits tell the second step enough to round as if from the exact value.
// Tested by tests/unit/backends/lower and, exhaustively for bf16 and f16, by tests/oracle/narrow_floats.
#include "backends/lower/families.h"

namespace strew::inline v0::lowered {
namespace {
using enum Primitive;

/// The operations of the math table's rsqrt (base/math/math.cc): IEEE 754 says what the bits of each of them are, so vectors can have it, too.
Value inverse_root(Builder& e, Value a) {
  const Value wide = a.type == Machine::f64 ? a : e.to(Machine::f64, fpext, a);
  const Value inverse = e(fdiv, e.number(Machine::f64, 1), e(Primitive::sqrt, wide));
  return a.type == Machine::f64 ? inverse : e.to(Machine::f32, fptrunc, inverse);
}

Value odd_float(Builder& e, Value a) {
  const Value nearest = e.to(Machine::f32, fptrunc, a), back = e.to(Machine::f64, fpext, nearest);
  const Value too_far = e(flt, e(fabs, a), e(fabs, back)), inexact = e.negate(e(eq, back, a));
  const Value toward_zero = e(sub, e.bits_of(nearest), e.to(Machine::i32, zext, too_far));
  return e.float_of(e(bit_or, toward_zero, e.to(Machine::i32, zext, inexact)));
}

/// From 2^53 on, an f64 cannot hold all bits of an i64. There the lowest 11 are cleared, and the bit above them is set if any of them was.
Value folded_to_53_bits(Builder& e, bool is_signed, Value a) {
  const Value size = is_signed ? e(iabs, a) : a;
  const Value any_low = e.negate(e(eq, e(bit_and, a, e.same(a, 0x7ff)), e.same(a, 0)));
  const Value sticky = e(shl, e.to(Machine::i64, zext, any_low), e.same(a, 11));
  const Value folded = e(bit_or, e(bit_and, a, e.same(a, ~uint64_t{0x7ff})), sticky);
  return e(select, e(ult, size, e.same(a, uint64_t{1} << 53)), a, folded);
}

}  // namespace

Value float_unary(Builder& e, ExprOp op, Value a) {
  switch (op) {
    case ExprOp::neg:
      return e(fneg, a);
    case ExprOp::abs:
      return e(fabs, a);
    case ExprOp::sign: {  // zeros keep their sign, NaN stays
      const Value stays = e(bit_or, e(unordered, a, a), e(eq, a, e.number(a.type, 0)));
      return e(select, stays, a, e(copysign, e.number(a.type, 1), a));
    }
    case ExprOp::floor:
      return e(Primitive::floor, a);
    case ExprOp::ceil:
      return e(Primitive::ceil, a);
    case ExprOp::round_half_even:
      return e(roundeven, a);
    case ExprOp::round_half_away:
      return e(Primitive::round, a);
    case ExprOp::trunc:
      return e(ftrunc, a);
    case ExprOp::sqrt:
      return e(Primitive::sqrt, a);
    case ExprOp::is_finite:
      return e(flt, e(fabs, a), e.constant(a.type, a.type == Machine::f32 ? 0x7f800000 : uint64_t{0x7ff} << 52));
    case STREW_EACH_OP(UNARY_MATH):
      return op == ExprOp::rsqrt ? inverse_root(e, a) : e.call(op, a);
    case STREW_EACH_OP(UNARY_BITS):
    case STREW_EACH_OP(UNARY_INTEGER):
    case STREW_EACH_OP(INPUT):
    case STREW_EACH_OP(CAST):
    case STREW_EACH_OP(BINARY):
    case STREW_EACH_OP(COMPLEX):
    case STREW_EACH_OP(COMPARE):
    case STREW_EACH_OP(SELECT):
      break;
  }
  return {};
}

Value float_binary(Builder& e, ExprOp op, Value a, Value b) {
  switch (op) {
    case ExprOp::add:
      return e(add, a, b);
    case ExprOp::sub:
      return e(sub, a, b);
    case ExprOp::mul:
      return e(mul, a, b);
    case ExprOp::div:
      return e(fdiv, a, b);
    case ExprOp::min:
      return e(fmin, a, b);
    case ExprOp::max:
      return e(fmax, a, b);
    case ExprOp::rem:
    case STREW_EACH_OP(BINARY_MATH):
      return e.call(op, a, b);
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

Value float_compare(Builder& e, ExprOp op, Value a, Value b) {
  switch (op) {
    case ExprOp::eq:
      return e(eq, a, b);
    case ExprOp::ne:
      return e.negate(e(eq, a, b));
    case ExprOp::lt:
      return e(flt, a, b);
    case ExprOp::le:
      return e(bit_or, e(flt, a, b), e(eq, a, b));
    case ExprOp::gt:
      return e(flt, b, a);
    case ExprOp::ge:
      return e(bit_or, e(flt, b, a), e(eq, a, b));
    case STREW_EACH_OP(INPUT):
    case STREW_EACH_OP(CAST):
    case STREW_EACH_OP(BINARY):
    case STREW_EACH_OP(UNARY):
    case STREW_EACH_OP(COMPLEX):
    case STREW_EACH_OP(TEST):
    case STREW_EACH_OP(SELECT):
      break;
  }
  return {};
}

Value float_to_float(Builder& e, DType to, Value a) {
  if (a.type == Machine::f32) return to == DType::f64 ? e.to(Machine::f64, fpext, a) : a;
  if (to == DType::f64) return a;
  return to == DType::f32 ? e.to(Machine::f32, fptrunc, a) : odd_float(e, a);
}

Value integer_to_float(Builder& e, const Integer& a, DType to) {
  const bool is_signed = is_signed_integer(a.dtype);
  const auto direct = [&](Machine type, Value v) { return e.to(type, is_signed ? sitofp : uitofp, v); };
  if (to == DType::f64) return direct(Machine::f64, a.value);
  if (to == DType::f32 || bits(a.dtype) <= 16) return direct(Machine::f32, a.value);
  return odd_float(e, direct(Machine::f64, bits(a.dtype) == 64 ? folded_to_53_bits(e, is_signed, a.value) : a.value));
}

/// Rounds toward zero and saturates; NaN gives 0.
Value float_to_integer(Builder& e, DType to, Value a) {
  const bool is_signed = is_signed_integer(to);
  const Value held = e.to(part_type(to), is_signed ? fptosi_sat : fptoui_sat, a);
  if (bits(to) >= 8) return held;
  const uint64_t most = (uint64_t{1} << (bits(to) - (is_signed ? 1 : 0))) - 1;
  return is_signed ? e(smax, e(smin, held, e.same(held, most)), e.same(held, ~most)) : e(umin, held, e.same(held, most));
}

}  // namespace strew::inline v0::lowered
