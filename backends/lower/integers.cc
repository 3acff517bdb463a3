// See families.h: integers and bool. Integers of less than 8 bits are computed in 8. Divisions and shifts are guarded against arguments outside
// the primitives' domains. Tested by tests/unit/backends/lower and proved by tests/oracle/lower_integers.py.
#include "backends/lower/families.h"

namespace strew::inline v0::lowered {
namespace {
using enum Primitive;

/// x / 0 has all bits set, x rem 0 is x.
Value guarded_division(Builder& e, bool quotient, bool is_signed, Value a, Value b) {
  const Value by_zero = e(eq, b, e.same(b, 0)), all_set = e.same(a, ~uint64_t{0});
  if (!is_signed) {
    const Value safe = e(select, by_zero, e.same(b, 1), b);
    return e(select, by_zero, quotient ? all_set : a, e(quotient ? udiv : urem, a, safe));
  }
  // x / -1 is -x, which wraps, and x rem -1 is 0. Both are computed by dividing by 1, because the least number / -1 is beyond the range.
  const Value by_minus_one = e(eq, b, e.same(b, ~uint64_t{0}));
  const Value safe = e(select, e(bit_or, by_zero, by_minus_one), e.same(b, 1), b);
  if (!quotient) return e(select, by_zero, a, e(srem, a, safe));
  const Value divided = e(select, by_minus_one, e(sub, e.same(a, 0), a), e(sdiv, a, safe));
  return e(select, by_zero, all_set, divided);
}

/// Amounts have no sign. Those from the width on shift every bit out, or leave the sign in every bit.
Value guarded_shift(Builder& e, ExprOp op, const Integer& a, const Integer& b) {
  const Value last = e.same(b.code, static_cast<uint64_t>(bits(a.dtype) - 1));
  const Value too_far = e(ult, last, b.code), amount = e(select, too_far, last, b.code);
  if (op == ExprOp::shift_right_arithmetic) {
    // The top bit of the dtype is the sign, whatever the dtype's signedness.
    const Value spare = e.same(a.code, static_cast<uint64_t>(width(a.code.type) - bits(a.dtype)));
    const Value extended = width(a.code.type) == bits(a.dtype) ? a.code : e(ashr, e(shl, a.code, spare), spare);
    return e(ashr, extended, amount);
  }
  const Value shifted = e(op == ExprOp::shift_left ? shl : lshr, a.code, amount);
  return e(select, too_far, e.same(a.code, 0), shifted);
}

/// Comparisons by equality and order.
template <class Equal, class Less>
Value compare(Builder& e, ExprOp op, Value a, Value b, const Equal& equal, const Less& less) {
  switch (op) {
    case ExprOp::eq:
      return equal(a, b);
    case ExprOp::ne:
      return e.negate(equal(a, b));
    case ExprOp::lt:
      return less(a, b);
    case ExprOp::le:
      return e.negate(less(b, a));
    case ExprOp::gt:
      return less(b, a);
    case ExprOp::ge:
      return e.negate(less(a, b));
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

}  // namespace

Value integer_unary(Builder& e, ExprOp op, const Integer& a) {
  const bool is_signed = is_signed_integer(a.dtype);
  const Value zero = e.same(a.value, 0);
  switch (op) {
    case ExprOp::neg:
      return e(sub, zero, a.value);
    case ExprOp::abs:
      return is_signed ? e(iabs, a.value) : a.value;
    case ExprOp::sign: {
      const Value positive = e.to(a.value.type, zext, e.negate(e(eq, a.value, zero)));
      return is_signed ? e(select, e(slt, a.value, zero), e.same(a.value, ~uint64_t{0}), positive) : positive;
    }
    case ExprOp::bit_not:
      return e(bit_xor, a.value, e.same(a.value, ~uint64_t{0}));
    case ExprOp::popcnt:
      return e(popcount, a.code);
    case ExprOp::count_leading_zeros: {
      const int spare = width(a.code.type) - bits(a.dtype);
      const Value zeros = e(clz, a.code);
      return spare == 0 ? zeros : e(sub, zeros, e.same(zeros, static_cast<uint64_t>(spare)));
    }
    case STREW_EACH_OP(INPUT):
    case STREW_EACH_OP(CAST):
    case STREW_EACH_OP(BINARY):
    case STREW_EACH_OP(UNARY_FLOAT):
    case STREW_EACH_OP(UNARY_MATH):
    case STREW_EACH_OP(COMPLEX):
    case STREW_EACH_OP(TEST):
    case STREW_EACH_OP(COMPARE):
    case STREW_EACH_OP(SELECT):
      break;
  }
  return {};
}

Value integer_binary(Builder& e, ExprOp op, const Integer& a, const Integer& b) {
  const bool is_signed = is_signed_integer(a.dtype);
  switch (op) {
    case ExprOp::add:
      return e(add, a.value, b.value);
    case ExprOp::sub:
      return e(sub, a.value, b.value);
    case ExprOp::mul:
      return e(mul, a.value, b.value);
    case ExprOp::div:
    case ExprOp::rem:
      return guarded_division(e, op == ExprOp::div, is_signed, a.value, b.value);
    case ExprOp::min:
      return e(is_signed ? smin : umin, a.value, b.value);
    case ExprOp::max:
      return e(is_signed ? smax : umax, a.value, b.value);
    case ExprOp::bit_and:
      return e(bit_and, a.value, b.value);
    case ExprOp::bit_or:
      return e(bit_or, a.value, b.value);
    case ExprOp::bit_xor:
      return e(bit_xor, a.value, b.value);
    case STREW_EACH_OP(SHIFT):
      return guarded_shift(e, op, a, b);
    case STREW_EACH_OP(INPUT):
    case STREW_EACH_OP(CAST):
    case STREW_EACH_OP(BINARY_MATH):
    case STREW_EACH_OP(UNARY):
    case STREW_EACH_OP(COMPLEX):
    case STREW_EACH_OP(TEST):
    case STREW_EACH_OP(COMPARE):
    case STREW_EACH_OP(SELECT):
      break;
  }
  return {};
}

Value integer_compare(Builder& e, ExprOp op, const Integer& a, const Integer& b) {
  const Primitive below = is_signed_integer(a.dtype) ? slt : ult;
  return compare(
      e, op, a.value, b.value, [&](Value x, Value y) { return e(eq, x, y); }, [&](Value x, Value y) { return e(below, x, y); });
}

Value boolean_unary(Builder& e, ExprOp op, Value a) { return op == ExprOp::bit_not ? e.negate(a) : Value{}; }

Value boolean_binary(Builder& e, ExprOp op, Value a, Value b) {
  switch (op) {
    case ExprOp::add:
    case ExprOp::max:
    case ExprOp::bit_or:
      return e(bit_or, a, b);
    case ExprOp::mul:
    case ExprOp::min:
    case ExprOp::bit_and:
      return e(bit_and, a, b);
    case ExprOp::bit_xor:
      return e(bit_xor, a, b);
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
  return {};
}

Value boolean_compare(Builder& e, ExprOp op, Value a, Value b) {
  return compare(
      e, op, a, b, [&](Value x, Value y) { return e.negate(e(bit_xor, x, y)); },
      [&](Value x, Value y) { return e(bit_and, e.negate(x), y); });
}

}  // namespace strew::inline v0::lowered
