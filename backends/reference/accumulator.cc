// See combine.h. A named combiner is the expression node of the same name; assign moves bits.
#include "backends/reference/combine.h"

#include "compiler/evaluate/arithmetic.h"

namespace strew::reference {

Scalar combine(CombinerKind kind, const Scalar& current, const Scalar& update) {
  switch (kind) {
    case CombinerKind::add:
      return evaluate::apply(ExprOp::add, current, update);
    case CombinerKind::sub:
      return evaluate::apply(ExprOp::sub, current, update);
    case CombinerKind::mul:
      return evaluate::apply(ExprOp::mul, current, update);
    case CombinerKind::div:
      return evaluate::apply(ExprOp::div, current, update);
    case CombinerKind::min:
      return evaluate::apply(ExprOp::min, current, update);
    case CombinerKind::max:
      return evaluate::apply(ExprOp::max, current, update);
    case CombinerKind::bit_and:
      return evaluate::apply(ExprOp::bit_and, current, update);
    case CombinerKind::bit_or:
      return evaluate::apply(ExprOp::bit_or, current, update);
    case CombinerKind::bit_xor:
      return evaluate::apply(ExprOp::bit_xor, current, update);
    default:
      return update;
  }
}

DType accumulator_dtype(Accumulate accumulate, DType result) {
  if (accumulate == Accumulate::native || !is_float(result)) return result;
  const DType wide = accumulate == Accumulate::wide ? DType::f32 : DType::f64;
  return bits(result) < bits(wide) ? wide : result;
}

}  // namespace strew::reference
