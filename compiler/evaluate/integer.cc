// Integers and bool. Arithmetic is two's complement and wraps: a result is computed in a type in which it cannot
// overflow, then truncated to the width. x / 0 has all bits set, and x rem 0 is x. Shift amounts are unsigned, so a
// negative amount counts as larger than the width. Tested by tests/unit/compiler/evaluate/reference_arithmetic_test.cc.
#include <algorithm>
#include <bit>

#include "base/number.h"
#include "compiler/evaluate/arithmetic.h"

namespace strew::inline v0::scalar_eval {
namespace {

/// The value of an integer of either signedness.
__int128 value_of(const Scalar& x) {
  if (x.dtype == DType::u64) return static_cast<__int128>(x.bits[0]);
  return decode_i64(x.dtype, x.bits[0]);
}

Scalar cut(DType dtype, uint64_t value) { return {dtype, {encode_u64(dtype, value), 0}}; }
Scalar cut(DType dtype, __int128 value) { return cut(dtype, static_cast<uint64_t>(value)); }

Scalar shift(ExprOp op, const Scalar& a, const Scalar& b) {
  const int width = bits(a.dtype);
  const uint64_t amount = b.bits[0];  // read as unsigned
  const bool beyond = amount >= static_cast<uint64_t>(width);
  if (op == ExprOp::shift_right_arithmetic) {
    // Fills with the top bit of the width, for unsigned dtypes too.
    const int unused = 64 - width;
    const int64_t extended = static_cast<int64_t>(a.bits[0] << unused) >> unused;
    return cut(a.dtype, static_cast<uint64_t>(extended >> (beyond ? 63 : amount)));
  }
  if (beyond) return cut(a.dtype, uint64_t{0});
  return cut(a.dtype, op == ExprOp::shift_left ? a.bits[0] << amount : a.bits[0] >> amount);
}

}  // namespace

Scalar apply_integer(ExprOp op, const Scalar& x) {
  const __int128 value = value_of(x);
  switch (op) {
    case ExprOp::neg:
      return cut(x.dtype, -value);
    case ExprOp::abs:
      return cut(x.dtype, value < 0 ? -value : value);
    case ExprOp::sign:
      return cut(x.dtype, __int128{value > 0} - __int128{value < 0});
    case ExprOp::bit_not:
      return cut(x.dtype, ~x.bits[0]);
    case ExprOp::popcnt:
      return cut(x.dtype, static_cast<uint64_t>(std::popcount(x.bits[0])));
    case ExprOp::count_leading_zeros:
      return cut(x.dtype, static_cast<uint64_t>(bits(x.dtype) - std::bit_width(x.bits[0])));
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

Scalar apply_integer(ExprOp op, const Scalar& a, const Scalar& b) {
  const __int128 x = value_of(a), y = value_of(b);
  switch (op) {
    case ExprOp::add:
      return cut(a.dtype, x + y);
    case ExprOp::sub:
      return cut(a.dtype, x - y);
    case ExprOp::mul:
      return cut(a.dtype, a.bits[0] * b.bits[0]);
    case ExprOp::div:
      return y == 0 ? cut(a.dtype, ~uint64_t{0}) : cut(a.dtype, x / y);
    case ExprOp::rem:
      return y == 0 ? a : cut(a.dtype, x % y);
    case ExprOp::min:
      return x < y ? a : b;
    case ExprOp::max:
      return x > y ? a : b;
    case ExprOp::bit_and:
      return cut(a.dtype, a.bits[0] & b.bits[0]);
    case ExprOp::bit_or:
      return cut(a.dtype, a.bits[0] | b.bits[0]);
    case ExprOp::bit_xor:
      return cut(a.dtype, a.bits[0] ^ b.bits[0]);
    case ExprOp::shift_left:
    case ExprOp::shift_right_logical:
    case ExprOp::shift_right_arithmetic:
      return shift(op, a, b);
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

Scalar apply_boolean(ExprOp op, const Scalar& a, const Scalar& b) {
  const bool x = a.bits[0] != 0, y = b.bits[0] != 0;
  const auto truth = [](bool result) { return Scalar{DType::boolean, {result ? 1u : 0u, 0}}; };
  switch (op) {
    case ExprOp::add:
    case ExprOp::max:
    case ExprOp::bit_or:
      return truth(x || y);
    case ExprOp::mul:
    case ExprOp::min:
    case ExprOp::bit_and:
      return truth(x && y);
    case ExprOp::bit_xor:
      return truth(x != y);
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

}  // namespace strew::inline v0::scalar_eval
