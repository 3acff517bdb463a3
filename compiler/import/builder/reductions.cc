// See program_builder.h: reductions, scans, and ranges of numbers. Tested by tests/unit/compiler/import/onnx/onnx_compute_test.cc,
// tests/unit/compiler/import/onnx/onnx_casts_test.cc and tests/unit/compiler/import/tflite/tflite_compute_test.cc.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "compiler/import/builder/program_builder.h"
#include "compiler/op/combiner.h"
#include "compiler/op/dims.h"
#include "compiler/op/message.h"
#include "strew/expr_builder.h"
#include "strew/verify.h"

namespace strew::inline v0 {
Expr reducer(ExprOp op, DType dtype) {
  ExprBuilder e;
  const int32_t current = e.current(0, dtype), update = e.update(0, dtype);
  return e.returns({e.apply(op, {current, update})});
}

std::vector<int64_t> ProgramBuilder::reduced(const std::vector<int64_t>& dims, const std::vector<int64_t>& axes, bool keep) {
  std::vector<int64_t> out;
  for (size_t d = 0; d < dims.size(); ++d) {
    const bool is_reduced = std::find(axes.begin(), axes.end(), static_cast<int64_t>(d)) != axes.end();
    if (keep || !is_reduced) out.push_back(is_reduced ? 1 : dims[d]);
  }
  return out;
}

Expected<std::vector<int>> ProgramBuilder::reduce(Expr function, const std::vector<int>& inputs, const std::vector<int>& initials,
                                                  std::vector<int64_t> dims) {
  const size_t n = inputs.size();
  if (n == 0 || initials.size() != n || function.results.size() != n)
    return invalid_argument("{} inputs, {} initial values and {} results of the function, expected as many of each", n,
                            initials.size(), function.results.size());
  STREW_TRY(verify(function, static_cast<int>(n), static_cast<int>(n), 0));
  std::vector<int64_t> whole = type(inputs[0]).dims;
  for (size_t i = 0; i < n; ++i) {
    const TensorType input = type(inputs[i]), initial = type(initials[i]);
    STREW_TRY(unify_dims(whole, input.dims, fmt::format("shape of operand {}", i)));
    if (!initial.dims.empty()) return invalid_argument("initial value {} has rank {}, expected 0", i, initial.rank());
    if (initial.dtype != input.dtype)
      return invalid_argument("initial value {} is {}, expected {}", i, initial.dtype, input.dtype);
  }
  STREW_TRY(check_dims(dims, whole.size(), "dimensions"));
  std::sort(dims.begin(), dims.end());
  const std::vector<int64_t> kept = reduced(whole, dims, false);
  std::vector<int> arguments = inputs;
  arguments.insert(arguments.end(), initials.begin(), initials.end());
  std::vector<TensorType> results;
  for (const int32_t result : function.results) results.push_back({function.nodes[result].dtype, kept, {}});
  STREW_ASSIGN(const int first, add(ReduceOp{std::move(function), std::move(dims)}, std::move(arguments), std::move(results)));
  std::vector<int> out(n);
  std::iota(out.begin(), out.end(), first);
  return out;
}

Expected<int> ProgramBuilder::reduce(ExprOp op, int value, const std::vector<int64_t>& dims, bool keep) {
  const TensorType from = type(value);
  const std::optional<uint64_t> identity = identity_bits(op, from.dtype);
  if (!identity) return unsupported("a reduction of {} by {} has no first value", from.dtype, op);
  // What nothing is added to is -0, so that all sums keep their sign; but the sum of nothing is 0. An open extent tells at the call.
  int first = scalar({from.dtype, {*identity, 0}});
  if (op == ExprOp::add && is_float(from.dtype)) {
    const int zero = number(0, from.dtype);
    for (const int64_t d : dims) {
      const int64_t known = from.dims[d];
      if (known == 0) first = zero;
      if (known != kDynamic) continue;
      STREW_ASSIGN(first, apply(ExprOp::select, {apply(ExprOp::eq, {extent(value, d), integer(0)}), zero, first}));
    }
  }
  STREW_ASSIGN(const std::vector<int> results, reduce(reducer(op, from.dtype), {value}, {first}, dims));
  return keep ? reshape_units(results[0], reduced(from.dims, dims, true)) : results[0];
}

Expected<int> ProgramBuilder::scan(Expr function, int value, int initial, int64_t dim, Direction direction) {
  const TensorType from = type(value);
  STREW_TRY(verify(function, 1, 1, 0));
  STREW_TRY(check_dim(dim, from.dims.size(), "the dim of a scan"));
  if (!type(initial).dims.empty() || type(initial).dtype != from.dtype)
    return invalid_argument("the initial value is {}, expected {} of rank 0", type(initial), from.dtype);
  return add(ScanOp{std::move(function), dim, direction.exclusive, direction.reverse}, {value, initial},
             {{from.dtype, from.dims, {}}});
}

Expected<int> ProgramBuilder::scan(ExprOp op, int value, int64_t dim, Direction direction) {
  const DType dtype = type(value).dtype;
  const std::optional<uint64_t> identity = identity_bits(op, dtype);
  if (!identity) return unsupported("a scan of {} by {} has no first value", dtype, op);
  // What nothing is added to is -0, so that all sums keep their sign; but the sum of nothing, which an exclusive scan begins with, is 0.
  const bool is_zero = direction.exclusive && op == ExprOp::add;
  const int initial = is_zero ? number(0, dtype) : scalar({dtype, {*identity, 0}});
  return scan(reducer(op, dtype), value, initial, dim, direction);
}

Expected<int> ProgramBuilder::range(int start, int limit, int delta) {
  const DType dtype = type(start).dtype;
  const auto one = [&](int value) {
    const auto list = integers(value);
    return list && list->size() == 1 ? std::optional<int64_t>(list->front()) : std::nullopt;
  };
  const std::optional<int64_t> first = one(start), last = one(limit), step = one(delta);
  if (!is_integer(dtype)) return unsupported("the numbers are {}, expected integers", dtype);
  if (!first || !step || *step == 0)
    return unsupported("start or delta is computed when the model runs, expected constants other than a delta of 0");
  int out = -1;
  if (last) {
    const std::optional<int64_t> count = checked::steps(*first, *last, *step);
    if (!count) return invalid_argument("the number of elements does not fit 63 bits");
    if (*count <= kMostEvaluated) {
      std::vector<int64_t> numbers(static_cast<size_t>(*count));
      std::iota(numbers.begin(), numbers.end(), int64_t{0});
      out = integers(numbers, dtype);
    } else {
      STREW_ASSIGN(out, iota({dtype, {*count}, {}}, 0));
    }
  } else {
    if (*first != 0 || *step != 1)
      return unsupported("limit is computed when the model runs, expected a start of 0 and a delta of 1 then");
    STREW_ASSIGN(const int count, convert(limit, DType::i64));
    STREW_ASSIGN(out, iota_to(dtype, stack({count}, DType::i64), 0));
  }
  const Expected<int> scaled = *step == 1 ? out : apply(ExprOp::mul, {out, integer(*step, dtype)});
  return *first == 0 ? scaled : apply(ExprOp::add, {scaled, integer(*first, dtype)});
}

}  // namespace strew::inline v0
