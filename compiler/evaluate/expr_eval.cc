// See expr_eval.h. Inputs, literals, bitcast, select, real, imag and complex only move bits; arithmetic.h computes the
// rest. Tested by tests/unit/compiler/evaluate/reference_arithmetic_test.cc.
#include "compiler/evaluate/expr_eval.h"

#include "base/number.h"
#include "compiler/evaluate/arithmetic.h"

namespace strew::inline v0::scalar_eval {

void ExprEvaluator::run(std::span<const Scalar> current, std::span<const Scalar> update, std::span<const Scalar> extra) {
  const auto value = [&](const ExprNode& node) -> Scalar {
    const auto arg = [&](size_t k) -> const Scalar& { return values_[node.args[k]]; };
    const auto index = static_cast<size_t>(node.index);
    switch (node.op) {
      case ExprOp::current:
        return current[index];
      case ExprOp::update:
        return update[index];
      case ExprOp::extra:
        return extra[index];
      case ExprOp::literal:
        return node.value;
      case ExprOp::convert:
        return convert(arg(0), node.dtype);
      case ExprOp::bitcast:
        return {node.dtype, arg(0).bits};
      case ExprOp::real:
        return {node.dtype, {real_bits(arg(0)), 0}};
      case ExprOp::imag:
        return {node.dtype, {imaginary_bits(arg(0)), 0}};
      case ExprOp::complex:
        return make_complex(node.dtype, arg(0).bits[0], arg(1).bits[0]);
      case ExprOp::select:
        return arg(0).bits[0] != 0 ? arg(1) : arg(2);
      case STREW_EACH_OP(UNARY):
      case STREW_EACH_OP(TEST):
        return apply(node.op, arg(0));
      case STREW_EACH_OP(BINARY):
      case STREW_EACH_OP(COMPARE):
        return apply(node.op, arg(0), arg(1));
      case STREW_EACH_OP(TERNARY_MATH):
        return apply(node.op, arg(0), arg(1), arg(2));
    }
    return {};
  };
  for (size_t i = 0; i < values_.size(); ++i) values_[i] = value(expr_.nodes[i]);
}

}  // namespace strew::inline v0::scalar_eval
