// See arithmetic.h. What computes one number of one or two of its type is computed as the operator of expressions that does so
// (docs/semantics.md section 4). Scalars are computed in 64 bits, of which as many are kept as the type has. Tested by
// tests/unit/backends/pto/simulate/pto_simulate_test.cc.
#include "backends/pto/arithmetic.h"

#include <cmath>

#include "base/number.h"
#include "compiler/evaluate/arithmetic.h"

namespace strew::inline v0::pto {
namespace {

/// The operators in the order of Computation; literal: it is none of these.
constexpr ExprOp kOperators[] = {ExprOp::literal,    ExprOp::add,
                                 ExprOp::sub,        ExprOp::mul,
                                 ExprOp::div,        ExprOp::literal,
                                 ExprOp::rem,        ExprOp::max,
                                 ExprOp::min,        ExprOp::bit_and,
                                 ExprOp::bit_or,     ExprOp::bit_xor,
                                 ExprOp::shift_left, ExprOp::shift_right_logical,
                                 ExprOp::neg,        ExprOp::bit_not};
static_assert(std::size(kOperators) == static_cast<size_t>(Computation::bit_not) + 1);

uint64_t mask_of(DType dtype) { return ~uint64_t{0} >> (64 - bits(dtype)); }

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

uint64_t compute(Computation what, DType dtype, uint64_t a, uint64_t b) {
  const bool is_signed = is_signed_integer(dtype);
  if (what == Computation::ceil_div) {
    const uint64_t quotient = compute(Computation::div, dtype, a, b), rest = compute(Computation::remainder, dtype, a, b);
    const bool up = rest != 0 && !(is_signed && (decode_i64(dtype, a) < 0) != (decode_i64(dtype, b) < 0));
    return compute(Computation::add, dtype, quotient, up ? 1 : 0);
  }
  if (what == Computation::none || what > Computation::bit_not) return a;  // it moves or fills
  const ExprOp op = kOperators[static_cast<size_t>(what)];
  const Scalar x{dtype, {a, 0}};
  if (op == ExprOp::neg || op == ExprOp::bit_not) return scalar_eval::apply(op, x).bits[0];
  const bool extends = is_signed && what == Computation::shift_right;
  return scalar_eval::apply(extends ? ExprOp::shift_right_arithmetic : op, x, {dtype, {b, 0}}).bits[0];
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

namespace {

int width_of(const Type& type) {
  if (type.kind == TypeKind::index) return 64;
  return type.element.dtype == DType::boolean ? 1 : bits(type.element.dtype);
}

}  // namespace

uint64_t cut(uint64_t code, const Type& type) { return code & (~uint64_t{0} >> (64 - width_of(type))); }

int64_t number_of(const Type& type, uint64_t code) {
  const int above = 64 - width_of(type);
  return static_cast<int64_t>(code << above) >> above;
}

Expected<uint64_t> evaluate(const Statement& s, std::span<const Bits> operands) {
  const Instruction& row = info(s.opcode);
  if (row.form == Form::constant) return cut(static_cast<uint64_t>(s.value), s.type);
  if (row.form == Form::select) return operands[operands[0].code != 0 ? 1 : 2].code;
  const bool is_unsigned = reads_unsigned(s);
  const DType wide = is_unsigned ? DType::u64 : DType::i64;
  const auto number = [&](size_t i) { return number_of(*operands[i].type, operands[i].code); };
  const auto operand = [&](size_t i) { return is_unsigned ? operands[i].code : static_cast<uint64_t>(number(i)); };
  if (row.form == Form::cast) return cut(operand(0), s.type);
  if (row.form == Form::compare) {
    const std::string_view predicate = s.attribute("predicate");
    return uint64_t{compare(predicate.substr(predicate.size() - 2), wide, operand(0), operand(1))};
  }
  const bool shifts = row.compute == Computation::shift_left || row.compute == Computation::shift_right;
  const bool divides =
      row.compute == Computation::div || row.compute == Computation::ceil_div || row.compute == Computation::remainder;
  if (const int width = width_of(s.type); shifts && operands[1].code >= static_cast<uint64_t>(width))
    return invalid_argument("the shift %" + s.operands[1][0] + " is " + std::to_string(number(1)) + ", expected 0 to " +
                            std::to_string(width - 1));
  if (divides && operands[1].code == 0) return invalid_argument("the divisor %" + s.operands[1][0] + " is 0, expected another");
  return cut(compute(row.compute, wide, operand(0), operand(1)), s.type);
}

}  // namespace strew::inline v0::pto
