// See expr_eval.h. Inputs, literals, bitcast, select, real, imag and complex only move bits; arithmetic.h computes the
// rest. Tested by tests/unit/compiler/evaluate/reference_arithmetic_test.cc.
#include "compiler/evaluate/expr_eval.h"

#include "base/number.h"
#include "compiler/evaluate/arithmetic.h"

namespace strew::inline v0::scalar_eval {

void ExprEvaluator::run(std::span<const Scalar> current, std::span<const Scalar> update, std::span<const Scalar> extra) {
  for (size_t i = 0; i < expr_.nodes.size(); ++i) {
    const ExprNode& node = expr_.nodes[i];
    const auto arg = [&](size_t k) -> const Scalar& { return values_[static_cast<size_t>(node.args[k])]; };
    const auto truth = [](bool value) { return Scalar{DType::boolean, {value ? 1u : 0u, 0}}; };
    const auto index = static_cast<size_t>(node.index);
    Scalar& value = values_[i];
    switch (node.op) {
      case ExprOp::current:
        value = current[index];
        break;
      case ExprOp::update:
        value = update[index];
        break;
      case ExprOp::extra:
        value = extra[index];
        break;
      case ExprOp::literal:
        value = node.value;
        break;
      case ExprOp::convert:
        value = convert(arg(0), node.dtype);
        break;
      case ExprOp::bitcast:
        value = {node.dtype, arg(0).bits};
        break;
      case ExprOp::real:
        value = {node.dtype, {real_bits(arg(0)), 0}};
        break;
      case ExprOp::imag:
        value = {node.dtype, {imaginary_bits(arg(0)), 0}};
        break;
      case ExprOp::complex:
        value = make_complex(node.dtype, arg(0).bits[0], arg(1).bits[0]);
        break;
      case ExprOp::is_finite:
        value = truth(is_finite(arg(0)));
        break;
      case STREW_EACH_OP(COMPARE):
        value = truth(compare(node.op, arg(0), arg(1)));
        break;
      case ExprOp::select:
        value = arg(0).bits[0] != 0 ? arg(1) : arg(2);
        break;
      case STREW_EACH_OP(UNARY):
        value = apply(node.op, arg(0));
        break;
      case STREW_EACH_OP(BINARY):
        value = apply(node.op, arg(0), arg(1));
        break;
    }
  }
}

}  // namespace strew::inline v0::scalar_eval
