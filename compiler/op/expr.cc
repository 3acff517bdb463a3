// The table of expression operations: name and arity. Names are StableHLO's where StableHLO has the operation; erf is
// CHLO's name; exp2, log2, trunc and one comparison per direction are strew's. A new operation needs a row here, its
// rule in verify_expr.cc, and a case in the reference and in the code generators. Tested by tests/unit/op_test.cc.
#include "strew/expr.h"

namespace strew::inline v0 {
namespace {

using E = ExprOp;

const std::vector<ExprOpInfo>& table() {
  static const auto& rows = *new const std::vector<ExprOpInfo>{
      {E::current, "current", 0},
      {E::update, "update", 0},
      {E::extra, "extra", 0},
      {E::literal, "constant", 0},
      {E::convert, "convert", 1},
      {E::bitcast, "bitcast_convert", 1},
      {E::add, "add", 2},
      {E::sub, "subtract", 2},
      {E::mul, "multiply", 2},
      {E::div, "divide", 2},
      {E::rem, "remainder", 2},
      {E::min, "minimum", 2},
      {E::max, "maximum", 2},
      {E::pow, "power", 2},
      {E::atan2, "atan2", 2},
      {E::bit_and, "and", 2},
      {E::bit_or, "or", 2},
      {E::bit_xor, "xor", 2},
      {E::shift_left, "shift_left", 2},
      {E::shift_right_logical, "shift_right_logical", 2},
      {E::shift_right_arithmetic, "shift_right_arithmetic", 2},
      {E::neg, "negate", 1},
      {E::abs, "abs", 1},
      {E::sign, "sign", 1},
      {E::bit_not, "not", 1},
      {E::popcnt, "popcnt", 1},
      {E::count_leading_zeros, "count_leading_zeros", 1},
      {E::floor, "floor", 1},
      {E::ceil, "ceil", 1},
      {E::round_half_even, "round_nearest_even", 1},
      {E::round_half_away, "round_nearest_afz", 1},
      {E::trunc, "trunc", 1},
      {E::sqrt, "sqrt", 1},
      {E::rsqrt, "rsqrt", 1},
      {E::cbrt, "cbrt", 1},
      {E::exp, "exponential", 1},
      {E::expm1, "exponential_minus_one", 1},
      {E::exp2, "exp2", 1},
      {E::log, "log", 1},
      {E::log1p, "log_plus_one", 1},
      {E::log2, "log2", 1},
      {E::tanh, "tanh", 1},
      {E::logistic, "logistic", 1},
      {E::sin, "sine", 1},
      {E::cos, "cosine", 1},
      {E::tan, "tan", 1},
      {E::erf, "erf", 1},
      {E::real, "real", 1},
      {E::imag, "imag", 1},
      {E::complex, "complex", 2},
      {E::is_finite, "is_finite", 1},
      {E::eq, "eq", 2},
      {E::ne, "ne", 2},
      {E::lt, "lt", 2},
      {E::le, "le", 2},
      {E::gt, "gt", 2},
      {E::ge, "ge", 2},
      {E::select, "select", 3},
  };
  return rows;
}

}  // namespace

const ExprOpInfo& info(ExprOp op) {
  static const ExprOpInfo none{E::literal, "(no operation)", 0};  // verify() refuses such numbers
  const auto number = static_cast<size_t>(op);
  return number < table().size() ? table()[number] : none;
}

const std::vector<ExprOpInfo>& expr_ops() { return table(); }

}  // namespace strew::inline v0
