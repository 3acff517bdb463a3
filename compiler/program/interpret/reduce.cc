// reduce: combines elements with their results in row-major order of the operand, as strew's scatters do. The combiner
// is the region's graph, so every region of elementwise operations is supported (argmax has two operands). scan: prefix
// sums and the like, one line along the dim after the other. Tested by tests/unit/compiler/program/interpret/interpret_test.cc.
#include <algorithm>

#include "base/number.h"
#include "base/strides.h"
#include "compiler/evaluate/expr_eval.h"
#include "compiler/program/interpret/interpret.h"

namespace strew::inline v0 {

Expected<std::vector<Tensor>> evaluate(const ReduceOp& op, const std::vector<TensorType>& types, const Arguments& arguments) {
  const size_t n = types.size();
  const std::vector<int64_t>& extents = arguments[0]->dims;
  for (size_t i = 1; i < n; ++i) STREW_TRY(check_extents(arguments[i]->dims, {DType::f32, extents, {}}, "an operand"));
  const size_t rank = extents.size();
  std::vector<int64_t> kept, strides(rank, 0);
  for (size_t d = 0; d < rank; ++d)
    if (std::find(op.dims.begin(), op.dims.end(), static_cast<int64_t>(d)) == op.dims.end()) kept.push_back(extents[d]);
  const std::vector<int64_t> of_kept = contiguous_strides(kept);
  for (size_t d = 0, k = 0; d < rank; ++d)
    if (std::find(op.dims.begin(), op.dims.end(), static_cast<int64_t>(d)) == op.dims.end()) strides[d] = of_kept[k++];
  std::vector<Tensor> results;
  for (size_t i = 0; i < n; ++i) {
    STREW_TRY(check_extents(kept, types[i], "result"));
    STREW_ASSIGN(Tensor result, make_tensor(types[i].dtype, kept));
    const Scalar initial = convert(load_element(arguments[n + i]->dtype, arguments[n + i]->data.data(), 0), result.dtype);
    for (int64_t e = 0, count = result.elements(); e < count; ++e) store_element(result.dtype, result.data.data(), e, initial);
    results.push_back(std::move(result));
  }
  scalar_eval::ExprEvaluator evaluator(op.function);
  std::vector<Scalar> current(n), element(n);
  Walk walk(extents, strides);
  for (int64_t e = 0, count = arguments[0]->elements(); e < count; ++e, walk.next()) {
    const int64_t to = walk.offset();
    for (size_t i = 0; i < n; ++i) {
      current[i] = load_element(results[i].dtype, results[i].data.data(), to);
      element[i] = load_element(arguments[i]->dtype, arguments[i]->data.data(), e);
    }
    evaluator.run(current, element, {});
    for (size_t i = 0; i < n; ++i) store_element(results[i].dtype, results[i].data.data(), to, evaluator.result(i));
  }
  return results;
}

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
