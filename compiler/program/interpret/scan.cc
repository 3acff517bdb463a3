// scan: prefix sums and the like, one line along the dim after the other. Tested by
// tests/unit/compiler/program/interpret/interpret_test.cc.
#include "base/number.h"
#include "base/strides.h"
#include "compiler/evaluate/expr_eval.h"
#include "compiler/program/interpret/interpret.h"

namespace strew::inline v0 {

Expected<Tensor> interpret_scan(const Compute& compute, const std::vector<const Tensor*>& arguments) {
  const Tensor& from = *arguments[0];
  STREW_TRY(check_extents(from.dims, compute.results[0], "result"));
  STREW_ASSIGN(Tensor to, make_tensor(from.dtype, from.dims));
  const auto along = static_cast<size_t>(compute.dims[0]);
  const bool is_exclusive = compute.dims[1] == 1, is_reversed = compute.dims[2] == 1;
  const int64_t extent = from.dims[along];
  const int64_t stride = contiguous_strides(from.dims)[along];
  const int64_t lines = extent == 0 ? 0 : from.elements() / extent;
  scalar_eval::ExprEvaluator evaluator(compute.function);
  const Scalar initial = load_element(arguments[1]->dtype, arguments[1]->data.data(), 0);
  std::vector<Scalar> current(1), element(1);
  for (int64_t line = 0; line < lines; ++line) {
    const int64_t first = line / stride * stride * extent + line % stride;
    current[0] = initial;
    for (int64_t i = 0; i < extent; ++i) {
      const int64_t at = first + (is_reversed ? extent - 1 - i : i) * stride;
      element[0] = load_element(from.dtype, from.data.data(), at);
      if (is_exclusive) store_element(to.dtype, to.data.data(), at, current[0]);
      evaluator.run(current, element, {});
      current[0] = evaluator.result(0);
      if (!is_exclusive) store_element(to.dtype, to.data.data(), at, current[0]);
    }
  }
  return to;
}

}  // namespace strew::inline v0
