// See combine.h. A named combiner is the expression node of the same name; assign moves bits.
#include "backends/reference/combine.h"

#include "backends/reference/arithmetic.h"

namespace strew::reference {

Scalar combine(CombinerKind kind, const Scalar& current, const Scalar& update) {
  switch (kind) {
    case CombinerKind::add:
      return apply(ExprOp::add, current, update);
    case CombinerKind::sub:
      return apply(ExprOp::sub, current, update);
    case CombinerKind::mul:
      return apply(ExprOp::mul, current, update);
    case CombinerKind::div:
      return apply(ExprOp::div, current, update);
    case CombinerKind::min:
      return apply(ExprOp::min, current, update);
    case CombinerKind::max:
      return apply(ExprOp::max, current, update);
    case CombinerKind::bit_and:
      return apply(ExprOp::bit_and, current, update);
    case CombinerKind::bit_or:
      return apply(ExprOp::bit_or, current, update);
    case CombinerKind::bit_xor:
      return apply(ExprOp::bit_xor, current, update);
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
