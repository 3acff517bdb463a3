// See arithmetic.h. What computes one number of one or two of its type is computed as the operator of expressions that does so (docs/semantics.md
// section 4). Tested by tests/unit/backends/pto/simulate/pto_simulate_test.cc.
#include "backends/pto/simulate/arithmetic.h"

#include <cmath>

#include "base/number.h"
#include "compiler/evaluate/arithmetic.h"

namespace strew::inline v0::pto {
namespace {

uint64_t mask_of(DType dtype) { return bits(dtype) == 64 ? ~uint64_t{0} : (uint64_t{1} << bits(dtype)) - 1; }

double rounded(double value, std::string_view mode) {
  if (mode == "FLOOR") return std::floor(value);
  if (mode == "CEIL") return std::ceil(value);
  if (mode == "TRUNC") return std::trunc(value);
  if (mode == "ROUND") return std::round(value);
  const double floor = std::floor(value), rest = value - floor;
  if (rest != 0.5) return rest < 0.5 ? floor : floor + 1;
  return std::fmod(floor, 2) == 0 ? floor : floor + 1;
}

}  // namespace

uint64_t compute(TileCompute what, DType dtype, uint64_t a, uint64_t b) {
  const auto unary = [&](ExprOp op) { return scalar_eval::apply(op, {dtype, {a, 0}}).bits[0]; };
  const auto binary = [&](ExprOp op) { return scalar_eval::apply(op, {dtype, {a, 0}}, {dtype, {b, 0}}).bits[0]; };
  switch (what) {
    case TileCompute::add:
      return binary(ExprOp::add);
    case TileCompute::sub:
      return binary(ExprOp::sub);
    case TileCompute::mul:
      return binary(ExprOp::mul);
    case TileCompute::div:
      return binary(ExprOp::div);
    case TileCompute::max:
      return binary(ExprOp::max);
    case TileCompute::min:
      return binary(ExprOp::min);
    case TileCompute::bit_and:
      return binary(ExprOp::bit_and);
    case TileCompute::bit_or:
      return binary(ExprOp::bit_or);
    case TileCompute::bit_xor:
      return binary(ExprOp::bit_xor);
    case TileCompute::shift_left:
      return binary(ExprOp::shift_left);
    case TileCompute::shift_right:
      return binary(is_signed_integer(dtype) ? ExprOp::shift_right_arithmetic : ExprOp::shift_right_logical);
    case TileCompute::negate:
      return unary(ExprOp::neg);
    case TileCompute::bit_not:
      return unary(ExprOp::bit_not);
    case TileCompute::move:
    case TileCompute::fill:
      return a;
    case TileCompute::none:  // not of two numbers
    case TileCompute::convert:
    case TileCompute::compare:
    case TileCompute::select:
    case TileCompute::sequence:
      break;
  }
  return a;
}

uint64_t convert(DType from, DType to, uint64_t code, std::string_view mode, bool saturates) {
  if (is_float(to)) return is_float(from) ? encode(to, decode(from, code)) : encode_i64(to, decode_i64(from, code));
  if (!is_float(from) && !saturates) return code & mask_of(to);
  const int width = bits(to) - (is_signed_integer(to) ? 1 : 0);
  const double high = std::ldexp(1.0, width) - 1, low = is_signed_integer(to) ? -std::ldexp(1.0, width) : 0;
  if (!is_float(from)) {
    const int64_t value = decode_i64(from, code);
    const auto top = static_cast<int64_t>((uint64_t{1} << (width == 64 ? 63 : width)) - 1);
    const int64_t bottom = is_signed_integer(to) ? -top - 1 : 0;
    return static_cast<uint64_t>(value < bottom ? bottom : value > top ? top : value) & mask_of(to);
  }
  const double value = rounded(decode(from, code), mode);
  if (std::isnan(value)) return 0;
  const double kept = value < low ? low : value > high ? high : value;
  return encode(to, kept);
}

bool compare(std::string_view mode, DType dtype, uint64_t a, uint64_t b) {
  constexpr ExprOp kModes[] = {STREW_OPS_OF(COMPARE)};
  for (const ExprOp op : kModes)
    if (name(op) == mode) return scalar_eval::apply(op, {dtype, {a, 0}}, {dtype, {b, 0}}).bits[0] != 0;
  return false;  // the instruction admits no other mode
}

}  // namespace strew::inline v0::pto
