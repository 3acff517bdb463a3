// Dispatches by the dtype's kind, and compares. Comparisons use exact values: integers by their signedness, floats as
// in IEEE 754 (of a NaN, only `ne` is true), complex numbers by their parts and only for equality. Tested by
// tests/unit/compiler/evaluate/reference_arithmetic_test.cc.
#include "compiler/evaluate/arithmetic.h"

#include <cmath>

#include "base/number.h"

namespace strew::inline v0::scalar_eval {
namespace {

template <class T>
bool ordered(ExprOp op, T a, T b) {
  switch (op) {
    case ExprOp::eq:
      return a == b;
    case ExprOp::ne:
      return a != b;
    case ExprOp::lt:
      return a < b;
    case ExprOp::le:
      return a <= b;
    case ExprOp::gt:
      return a > b;
    case ExprOp::ge:
      return a >= b;
    case STREW_EACH_OP(INPUT):
    case STREW_EACH_OP(CAST):
    case STREW_EACH_OP(BINARY):
    case STREW_EACH_OP(UNARY):
    case STREW_EACH_OP(COMPLEX):
    case STREW_EACH_OP(TEST):
    case STREW_EACH_OP(SELECT):
      break;
  }
  return false;  // no comparison
}

}  // namespace

Scalar apply(ExprOp op, const Scalar& x) {
  switch (info(x.dtype).kind) {
    case DTypeKind::floating:
      return apply_float(op, x);
    case DTypeKind::complex:
      return apply_complex(op, x);
    case DTypeKind::boolean:
      return {x.dtype, {op == ExprOp::bit_not ? (x.bits[0] == 0 ? 1u : 0u) : (x.bits[0] != 0 ? 1u : 0u), 0}};
    case DTypeKind::signed_integer:
    case DTypeKind::unsigned_integer:
      return apply_integer(op, x);
    case DTypeKind::string:
      break;
  }
  return {};  // strings only move
}

Scalar apply(ExprOp op, const Scalar& a, const Scalar& b) {
  switch (info(a.dtype).kind) {
    case DTypeKind::floating:
      return apply_float(op, a, b);
    case DTypeKind::complex:
      return apply_complex(op, a, b);
    case DTypeKind::boolean:
      return apply_boolean(op, a, b);
    case DTypeKind::signed_integer:
    case DTypeKind::unsigned_integer:
      return apply_integer(op, a, b);
    case DTypeKind::string:
      break;
  }
  return {};  // strings only move
}

bool compare(ExprOp op, const Scalar& a, const Scalar& b) {
  if (is_complex(a.dtype)) {
    const DType part = part_dtype(a.dtype);
    const bool equal = decode(part, real_bits(a)) == decode(part, real_bits(b)) &&
                       decode(part, imaginary_bits(a)) == decode(part, imaginary_bits(b));
    return equal == (op == ExprOp::eq);
  }
  if (is_float(a.dtype)) return ordered(op, decode(a.dtype, a.bits[0]), decode(b.dtype, b.bits[0]));
  if (a.dtype == DType::u64) return ordered(op, a.bits[0], b.bits[0]);
  return ordered(op, decode_i64(a.dtype, a.bits[0]), decode_i64(b.dtype, b.bits[0]));
}

bool is_finite(const Scalar& x) { return std::isfinite(decode(x.dtype, x.bits[0])); }

}  // namespace strew::inline v0::scalar_eval
