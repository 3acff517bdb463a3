// See families.h: integers and bool. Integers of less than 8 bits are computed in 8. Divisions and shifts are guarded against arguments outside
// the primitives' domains. Tested by tests/unit/backends/lower and proved by tests/oracle/lower_integers.py.
#include "backends/lower/families.h"

namespace strew::inline v0::lowered {
namespace {
using P = Primitive;

/// x / 0 has all bits set, x rem 0 is x.
Value guarded_division(Builder& e, bool quotient, bool is_signed, Value a, Value b) {
  const Value by_zero = e(P::eq, b, e.same(b, 0)), all_set = e.same(a, ~uint64_t{0});
  if (!is_signed) {
    const Value safe = e(P::select, by_zero, e.same(b, 1), b);
    return e(P::select, by_zero, quotient ? all_set : a, e(quotient ? P::udiv : P::urem, a, safe));
  }
  // x / -1 is -x, which wraps, and x rem -1 is 0. Both are computed by dividing by 1, because the least number / -1 is beyond the range.
  const Value by_minus_one = e(P::eq, b, e.same(b, ~uint64_t{0}));
  const Value safe = e(P::select, e(P::bit_or, by_zero, by_minus_one), e.same(b, 1), b);
  if (!quotient) return e(P::select, by_zero, a, e(P::srem, a, safe));
  const Value divided = e(P::select, by_minus_one, e(P::sub, e.same(a, 0), a), e(P::sdiv, a, safe));
  return e(P::select, by_zero, all_set, divided);
}

/// Amounts have no sign. Those from the width on shift every bit out, or leave the sign in every bit.
Value guarded_shift(Builder& e, ExprOp op, const Integer& a, const Integer& b) {
  const Value last = e.same(b.code, static_cast<uint64_t>(bits(a.dtype) - 1));
  const Value too_far = e(P::ult, last, b.code), amount = e(P::select, too_far, last, b.code);
  if (op == ExprOp::shift_right_arithmetic) {
    // The top bit of the dtype is the sign, whatever the dtype's signedness.
    const Value spare = e.same(a.code, static_cast<uint64_t>(width(a.code.type) - bits(a.dtype)));
    const Value extended = width(a.code.type) == bits(a.dtype) ? a.code : e(P::ashr, e(P::shl, a.code, spare), spare);
    return e(P::ashr, extended, amount);
  }
  const Value shifted = e(op == ExprOp::shift_left ? P::shl : P::lshr, a.code, amount);
  return e(P::select, too_far, e.same(a.code, 0), shifted);
}

struct Integers : Order<Integers, Integer> {
  using N = const Integer&;
  static constexpr unsigned kTakes = expr_dtypes::integers;
  static bool has_sign(N a) { return is_signed_integer(a.dtype); }

  static Value add(Builder& e, N a, N b) { return e(P::add, a.value, b.value); }
  static Value sub(Builder& e, N a, N b) { return e(P::sub, a.value, b.value); }
  static Value mul(Builder& e, N a, N b) { return e(P::mul, a.value, b.value); }
  static Value div(Builder& e, N a, N b) { return guarded_division(e, true, has_sign(a), a.value, b.value); }
  static Value rem(Builder& e, N a, N b) { return guarded_division(e, false, has_sign(a), a.value, b.value); }
  static Value min(Builder& e, N a, N b) { return e(has_sign(a) ? P::smin : P::umin, a.value, b.value); }
  static Value max(Builder& e, N a, N b) { return e(has_sign(a) ? P::smax : P::umax, a.value, b.value); }
  static Value bit_and(Builder& e, N a, N b) { return e(P::bit_and, a.value, b.value); }
  static Value bit_or(Builder& e, N a, N b) { return e(P::bit_or, a.value, b.value); }
  static Value bit_xor(Builder& e, N a, N b) { return e(P::bit_xor, a.value, b.value); }
  static Value shift_left(Builder& e, N a, N b) { return guarded_shift(e, ExprOp::shift_left, a, b); }
  static Value shift_right_logical(Builder& e, N a, N b) { return guarded_shift(e, ExprOp::shift_right_logical, a, b); }
  static Value shift_right_arithmetic(Builder& e, N a, N b) { return guarded_shift(e, ExprOp::shift_right_arithmetic, a, b); }
  static Value eq(Builder& e, N a, N b) { return e(P::eq, a.value, b.value); }
  static Value lt(Builder& e, N a, N b) { return e(has_sign(a) ? P::slt : P::ult, a.value, b.value); }

  static Value neg(Builder& e, N a) { return e(P::sub, e.same(a.value, 0), a.value); }
  static Value abs(Builder& e, N a) { return has_sign(a) ? e(P::iabs, a.value) : a.value; }
  static Value sign(Builder& e, N a) {
    const Value zero = e.same(a.value, 0), positive = e.to(a.value.type, P::zext, e.negate(e(P::eq, a.value, zero)));
    return has_sign(a) ? e(P::select, e(P::slt, a.value, zero), e.same(a.value, ~uint64_t{0}), positive) : positive;
  }
  static Value bit_not(Builder& e, N a) { return e(P::bit_xor, a.value, e.same(a.value, ~uint64_t{0})); }
  static Value popcnt(Builder& e, N a) { return e(P::popcount, a.code); }
  static Value count_leading_zeros(Builder& e, N a) {
    const int spare = width(a.code.type) - bits(a.dtype);
    const Value zeros = e(P::clz, a.code);
    return spare == 0 ? zeros : e(P::sub, zeros, e.same(zeros, static_cast<uint64_t>(spare)));
  }
};

struct Booleans : Order<Booleans, Value> {
  static constexpr unsigned kTakes = expr_dtypes::boolean;
  static Value add(Builder& e, Value a, Value b) { return e(P::bit_or, a, b); }
  static Value mul(Builder& e, Value a, Value b) { return e(P::bit_and, a, b); }
  static Value min(Builder& e, Value a, Value b) { return e(P::bit_and, a, b); }
  static Value max(Builder& e, Value a, Value b) { return e(P::bit_or, a, b); }
  static Value bit_and(Builder& e, Value a, Value b) { return e(P::bit_and, a, b); }
  static Value bit_or(Builder& e, Value a, Value b) { return e(P::bit_or, a, b); }
  static Value bit_xor(Builder& e, Value a, Value b) { return e(P::bit_xor, a, b); }
  static Value bit_not(Builder& e, Value a) { return e.negate(a); }
  static Value eq(Builder& e, Value a, Value b) { return e.negate(e(P::bit_xor, a, b)); }
  static Value lt(Builder& e, Value a, Value b) { return e(P::bit_and, e.negate(a), b); }
};

}  // namespace

Parts lower_integer(Builder& e, ExprOp op, const Integer& a, const Integer* b) {
  return b == nullptr ? apply<Integers>(e, op, a) : apply<Integers>(e, op, a, *b);
}
Parts lower_boolean(Builder& e, ExprOp op, Value a, Value b) {
  return b.node < 0 ? apply<Booleans>(e, op, a) : apply<Booleans>(e, op, a, b);
}

}  // namespace strew::inline v0::lowered
