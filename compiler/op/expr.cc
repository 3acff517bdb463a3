// The table of operators, from the rows of expr_ops.def. Tested by tests/unit/compiler/op/op_test.cc.
#include "strew/expr.h"

namespace strew::inline v0 {
namespace {

const std::vector<ExprOpInfo>& table() {
  static const auto& rows = *new const std::vector<ExprOpInfo>{
#define STREW_EXPR_ROW(op, name, arity, arguments, result, ...) \
  {ExprOp::op, name, arity, expr_dtypes::arguments, ExprResult::result},
      STREW_EXPR_OPS(STREW_EXPR_ROW)
#undef STREW_EXPR_ROW
  };
  return rows;
}

}  // namespace

const ExprOpInfo& info(ExprOp op) {
  // verify() refuses such numbers
  static const ExprOpInfo none{ExprOp::literal, "(no operation)", 0, expr_dtypes::own, ExprResult::own};
  const auto number = static_cast<size_t>(op);
  return number < table().size() ? table()[number] : none;
}

const std::vector<ExprOpInfo>& expr_ops() { return table(); }

}  // namespace strew::inline v0
