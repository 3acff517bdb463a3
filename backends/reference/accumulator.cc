// See accumulator.h. Tested by tests/unit/compiler/evaluate/reference_arithmetic_test.cc.
#include "backends/reference/accumulator.h"

namespace strew::inline v0::reference {

DType accumulator_dtype(Accumulate accumulate, DType result) {
  if (accumulate == Accumulate::native || !is_float(result)) return result;
  const DType wide = accumulate == Accumulate::wide ? DType::f32 : DType::f64;
  return bits(result) < bits(wide) ? wide : result;
}

}  // namespace strew::inline v0::reference
