// map: elementwise operations. A function of a single node takes a typed loop (typed_map.h) for integers and bools of
// at least 8 bits, f32 and f64, if it is one of the simple operations: integer arithmetic with wrap-around,
// comparisons, IEEE add, subtract and multiply, select. All other functions are evaluated element by element with the
// reference's scalars, so both ways agree bit for bit. Tested by tests/unit/compiler/program/interpret/interpret_test.cc, which runs both.
#include "base/number.h"
#include "compiler/evaluate/expr_eval.h"
#include "compiler/program/interpret/interpret.h"
#include "compiler/program/interpret/typed_map.h"

namespace strew::inline v0 {
namespace {

/// The dims of the result, which all arguments must have except those of rank 0.
Expected<std::vector<int64_t>> result_dims(const TensorType& type, const Arguments& arguments) {
  const std::vector<int64_t>* dims = nullptr;
  for (const Tensor* argument : arguments) {
    if (argument->dims.empty() && !type.dims.empty()) continue;
    if (dims == nullptr) dims = &argument->dims;
    STREW_TRY(check_extents(argument->dims, {argument->dtype, *dims, {}}, "an operand"));
  }
  if (dims == nullptr) return invalid_argument("every operand has rank 0, expected one of the result's rank");
  STREW_TRY(check_extents(*dims, type, "result"));
  return *dims;
}

void map_scalars(const Expr& function, const Arguments& arguments, Tensor& result) {
  scalar_eval::ExprEvaluator evaluator(function);
  std::vector<Scalar> values(arguments.size());
  for (size_t a = 0; a < arguments.size(); ++a)
    if (result.elements() > 0 && arguments[a]->dims.empty())
      values[a] = load_element(arguments[a]->dtype, arguments[a]->data.data(), 0);
  for (int64_t i = 0, count = result.elements(); i < count; ++i) {
    for (size_t a = 0; a < arguments.size(); ++a)
      if (!arguments[a]->dims.empty()) values[a] = load_element(arguments[a]->dtype, arguments[a]->data.data(), i);
    evaluator.run({}, {}, values);
    store_element(result.dtype, result.data.data(), i, evaluator.result(0));
  }
}

}  // namespace

Expected<Tensor> evaluate(const MapOp& op, const TensorType& type, const Arguments& arguments) {
  STREW_ASSIGN(std::vector<int64_t> dims, result_dims(type, arguments));
  STREW_ASSIGN(Tensor result, make_tensor(type.dtype, std::move(dims)));
  if (!map_typed(op.function, arguments, result)) map_scalars(op.function, arguments, result);
  return result;
}

}  // namespace strew::inline v0
