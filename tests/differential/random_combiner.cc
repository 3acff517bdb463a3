// See random_combiner.h. Tested by every differential run.
#include "tests/differential/random_combiner.h"

#include <cstdio>
#include <cstdlib>

#include "strew/builder.h"
#include "strew/forms.h"

namespace strew::test {

bool combines(CombinerKind combiner, DType dtype) {
  const DTypeInfo& row = info(dtype);
  const bool boolean = row.kind == DTypeKind::boolean, complex = row.kind == DTypeKind::complex;
  switch (combiner) {
    case CombinerKind::assign:
      return true;
    case CombinerKind::add:
    case CombinerKind::mul:
    case CombinerKind::expr:
      return row.arithmetic;
    case CombinerKind::sub:
    case CombinerKind::div:
      return row.arithmetic && !boolean;
    case CombinerKind::min:
    case CombinerKind::max:
      return row.arithmetic && !complex;
    case CombinerKind::bit_and:
    case CombinerKind::bit_or:
    case CombinerKind::bit_xor:
      return row.arithmetic && (boolean || is_integer(dtype));
  }
  return false;
}

void return_arg(Scatter& scatter, DType dtype) {
  ScatterBuilder builder = scatter_rows({dtype, {1, 1}, {}}, {DType::i32, {1}, {}}, {dtype, {1, 1}, {}});
  builder.combine(scatter.combiner);
  if (scatter.init == InitKind::fill) builder.fill({});
  const Expected<Scatter> made = builder.return_arg().build();
  if (!made.ok()) {
    std::fprintf(stderr, "%s\n", made.status().message().c_str());
    std::abort();
  }
  scatter.combiner = made->combiner;
  scatter.expr = made->expr;
  scatter.fill = made->fill;
}

}  // namespace strew::test
