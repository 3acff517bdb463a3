// The rules for compounds: what a target computes that does not have them. Tested by tests/unit/backends/lower, which interprets every rule, and
// those of integers by tests/oracle/lower_integers.py, which proves them.
#include <cmath>

#include "backends/lower/builder.h"
#include "backends/lower/families.h"

namespace strew::inline v0::lowered {
namespace {
using enum Primitive;

Value is_negative(Builder& e, Value a) { return e(slt, a, e.same(a, 0)); }
Value minus(Builder& e, Value a) { return e(sub, e.same(a, 0), a); }
/// a, or -a where `truth` holds.
Value minus_where(Builder& e, Value truth, Value a) { return e(select, truth, minus(e, a), a); }

/// Divides magnitudes without sign.
Value divide(Builder& e, Primitive op, Value a, Value b) {
  const Value whole = e(op == sdiv ? udiv : urem, e(iabs, a), e(iabs, b));
  return minus_where(e, is_negative(e, op == sdiv ? e(bit_xor, a, b) : a), whole);
}

/// Counts in ever wider fields. The last step adds all bytes in the top one.
Value count_ones(Builder& e, Value a) {
  const auto mask = [&](Value v, uint64_t pattern) { return e(bit_and, v, e.same(v, pattern)); };
  const auto down = [&](Value v, int by) { return e(lshr, v, e.same(v, static_cast<uint64_t>(by))); };
  constexpr uint64_t kBytes = 0x0101010101010101;
  const Value pairs = e(sub, a, mask(down(a, 1), 0x55 * kBytes));
  const Value fours = e(add, mask(pairs, 0x33 * kBytes), mask(down(pairs, 2), 0x33 * kBytes));
  const Value bytes = mask(e(add, fours, down(fours, 4)), 0x0f * kBytes);
  return down(e(mul, bytes, e.same(bytes, kBytes)), width(a.type) - 8);
}

Value count_leading_zeros(Builder& e, Value a) {
  for (int by = 1; by < width(a.type); by *= 2) a = e(bit_or, a, e(lshr, a, e.same(a, static_cast<uint64_t>(by))));
  return e(popcount, e(bit_xor, a, e.same(a, all_ones(a.type))));
}

Value sign_bit(Builder& e, Value a) {
  const Value bits = e.bits_of(a);
  return e(bit_and, bits, e.same(bits, uint64_t{1} << (width(a.type) - 1)));
}
Value magnitude_bits(Builder& e, Value a) {
  const Value bits = e.bits_of(a);
  return e(bit_and, bits, e.same(bits, all_ones(bits.type) >> 1));
}

/// x86 has instructions that compute a < b ? a : b. That is computed for (a, b) and for (b, a). The two results differ in two cases only. For
/// zeros of different sign one is +0 and one is -0: `or` of the bits gives -0, as the minimum needs, and `and` gives +0, as the maximum needs. If
/// one operand is NaN, one result is that NaN, which `or` keeps; the maximum adds the NaN by an `or` with a mask. This takes three operations for
/// the minimum and five for the maximum, without blends.
Value extremum(Builder& e, Primitive op, Value a, Value b) {
  const auto one_way = [&](Value x, Value y) { return e.bits_of(e(select, op == fmax ? e(flt, y, x) : e(flt, x, y), x, y)); };
  const Value first = one_way(a, b), second = one_way(b, a);
  if (op == fmin) return e.float_of(e(bit_or, first, second));
  const Value nan = e.to(first.type, sext, e(unordered, a, b));
  return e.float_of(e(bit_or, e(bit_and, first, second), nan));
}

Value round_half_away(Builder& e, Value a) {
  const Value whole = e(ftrunc, a), rest = e(fabs, e(sub, a, whole));
  const Value further = e(add, whole, e(copysign, e.number(a.type, 1), a));
  return e(select, e(flt, rest, e.number(a.type, 0.5)), whole, further);
}

/// The magnitude is converted where it is in range, and the sign applied afterwards.
Value saturate(Builder& e, Primitive op, Machine type, Value a) {
  const bool is_signed = op == fptosi_sat;
  const int digits = is_signed ? width(type) - 1 : width(type);
  const Value zero = e.number(a.type, 0), high = e.number(a.type, std::ldexp(1.0, digits));
  const Value low = e.number(a.type, is_signed ? -std::ldexp(1.0, digits) : -1.0);
  const Value not_low = e(flt, low, a), not_high = e(flt, a, high);
  const Value safe = e(select, e(bit_and, not_low, not_high), a, zero);
  Value inside = e.to(type, fptoui, e(fabs, safe));
  if (is_signed) inside = minus_where(e, e(flt, safe, zero), inside);
  const uint64_t most = all_ones(type) >> (is_signed ? 1 : 0);
  const Value least = e.constant(type, is_signed ? ~most : 0);
  const Value number = e(select, not_high, e(select, not_low, inside, least), e.constant(type, most));
  return e(select, e(unordered, a, a), e.constant(type, 0), number);
}

}  // namespace

Value Builder::expand(Primitive op, Machine type, Value a, Value b, Value c) {
  Builder& e = *this;
  switch (op) {
    case sdiv:
    case srem:
      return divide(e, op, a, b);
    case smin:
      return e(select, e(slt, a, b), a, b);
    case smax:
      return e(select, e(slt, a, b), b, a);
    case umin:
      return e(select, e(ult, a, b), a, b);
    case umax:
      return e(select, e(ult, a, b), b, a);
    case iabs:
      return minus_where(e, is_negative(e, a), a);
    case popcount:
      return count_ones(e, a);
    case clz:
      return count_leading_zeros(e, a);
    case fneg: {
      const Value bits = e.bits_of(a);
      return e.float_of(e(bit_xor, bits, e.same(bits, uint64_t{1} << (width(a.type) - 1))));
    }
    case fabs:
      return e.float_of(magnitude_bits(e, a));
    case copysign:
      return e.float_of(e(bit_or, magnitude_bits(e, a), sign_bit(e, b)));
    case unordered:
      return e(bit_or, e.negate(e(eq, a, a)), e.negate(e(eq, b, b)));
    case fmin:
    case fmax:
      return extremum(e, op, a, b);
    case Primitive::fma:
      return e.call(ExprOp::fma, a, b, c);
    case round:
      return round_half_away(e, a);
    case fptosi_sat:
    case fptoui_sat:
      return saturate(e, op, type, a);
    case half_to_float:  // Builder::decode() and encode() have their rules
    case float_to_half:
    case code_to_float:
    case float_to_code:
      STREW_PRIMITIVES(STREW_PRIMITIVE_CASE)
      break;
  }
  return a;  // no compound
}

}  // namespace strew::inline v0::lowered
