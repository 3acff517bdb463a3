// See expr_math.h. Tested by tests/unit/compiler/op/math_test.cc.
#include "compiler/op/expr_math.h"

#include <string_view>
#include <vector>

namespace strew::inline v0 {
namespace {

const MathFunction* named(std::string_view name) {
  for (const MathFunction& row : math_functions())
    if (row.name == name) return &row;
  return nullptr;
}

/// By the enumerators' names, which are the table's.
std::vector<const MathFunction*> rows_by_op() {
  std::vector<const MathFunction*> rows(expr_ops().size());
#define STREW_MATH_ROW(op, ...) rows[static_cast<size_t>(ExprOp::op)] = named(#op);
  STREW_MATH_UNARY(STREW_MATH_ROW)
  STREW_MATH_BINARY(STREW_MATH_ROW)
  STREW_MATH_TERNARY(STREW_MATH_ROW)
#undef STREW_MATH_ROW
  return rows;
}

}  // namespace

const MathFunction* find_math_function(ExprOp op) {
  static const auto& rows = *new const std::vector<const MathFunction*>(rows_by_op());
  return rows[static_cast<size_t>(op)];
}

}  // namespace strew::inline v0
