// scan: prefix sums and the like, one line along the dim after the other. Tested by
// tests/unit/compiler/program/interpret/interpret_test.cc.
#include "base/number.h"
#include "base/strides.h"
#include "compiler/evaluate/expr_eval.h"
#include "compiler/program/interpret/interpret.h"

namespace strew::inline v0 {

Expected<Tensor> evaluate(const ScanOp& op, const TensorType& type, const Arguments& arguments) {
  const Tensor& from = *arguments[0];
  STREW_TRY(check_extents(from.dims, type, "result"));
  STREW_ASSIGN(Tensor to, make_tensor(from.dtype, from.dims));
  const auto along = static_cast<size_t>(op.dim);
  const int64_t extent = from.dims[along];
  const int64_t stride = contiguous_strides(from.dims)[along];
  const int64_t lines = extent == 0 ? 0 : from.elements() / extent;
  scalar_eval::ExprEvaluator evaluator(op.function);
  const Scalar initial = load_element(arguments[1]->dtype, arguments[1]->data.data(), 0);
  std::vector<Scalar> current(1), element(1);
  for (int64_t line = 0; line < lines; ++line) {
    const int64_t first = line / stride * stride * extent + line % stride;
    current[0] = initial;
    for (int64_t i = 0; i < extent; ++i) {
      const int64_t at = first + (op.reverse ? extent - 1 - i : i) * stride;
      element[0] = load_element(from.dtype, from.data.data(), at);
      if (op.exclusive) store_element(to.dtype, to.data.data(), at, current[0]);
      evaluator.run(current, element, {});
      current[0] = evaluator.result(0);
      if (!op.exclusive) store_element(to.dtype, to.data.data(), at, current[0]);
    }
  }
  return to;
}

}  // namespace strew::inline v0
