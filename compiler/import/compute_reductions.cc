// See compute_builder.h: reductions, scans, and ranges of numbers. Tested by tests/unit/onnx_compute_test.cc, tests/unit/onnx_casts_test.cc and
// tests/unit/tflite_compute_test.cc.
#include <algorithm>

#include "base/checked.h"
#include "compiler/import/compute_builder.h"
#include "compiler/op/combiner.h"

namespace strew::inline v0 {
namespace {

/// The function of a reduction: current op update.
Expr reducer(ExprOp op, DType dtype) {
  Expr out;
  ExprNode current, update, last;
  current.op = ExprOp::current;
  update.op = ExprOp::update;
  last.op = op;
  current.dtype = update.dtype = last.dtype = dtype;
  last.args = {0, 1};
  out.nodes = {current, update, last};
  out.results = {2};
  return out;
}

}  // namespace

Expected<int> ComputeBuilder::reduce(ExprOp op, int value, std::vector<int64_t> dims, bool keep) {
  const TensorType from = type(value);
  std::sort(dims.begin(), dims.end());
  const std::optional<uint64_t> identity = identity_bits(op, from.dtype);
  if (!identity)
    return unsupported("a reduction of " + std::string(name(from.dtype)) + " by " + std::string(name(op)) +
                       " has no first value");
  // What nothing is added to is -0, so that all sums keep their sign; but the sum of nothing is 0. An open extent tells at the call.
  int first = scalar({from.dtype, {*identity, 0}});
  if (op == ExprOp::add && is_float(from.dtype)) {
    const int zero = scalar(Scalar::of(from.dtype, 0));
    for (const int64_t d : dims) {
      const int64_t known = from.dims[static_cast<size_t>(d)];
      if (known == 0) first = zero;
      if (known != kDynamic) continue;
      STREW_ASSIGN(const int is_empty, apply(ExprOp::eq, {extent(value, d), integer(0)}));
      STREW_ASSIGN(first, apply(ExprOp::select, {is_empty, zero, first}));
    }
  }
  Compute compute;
  compute.op = ComputeOp::reduce;
  compute.arguments = {value, first};
  compute.dims = dims;
  compute.function = reducer(op, from.dtype);
  compute.results = {{from.dtype, {}, {}}};
  std::vector<int64_t> kept;
  for (size_t d = 0; d < from.dims.size(); ++d) {
    const bool is_reduced = std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) != dims.end();
    kept.push_back(is_reduced ? 1 : from.dims[d]);
    if (!is_reduced) compute.results[0].dims.push_back(from.dims[d]);
  }
  STREW_ASSIGN(const int reduced, add(std::move(compute)));
  if (!keep) return reduced;
  if (std::count(kept.begin(), kept.end(), kDynamic) <= 1) return reshape(reduced, std::move(kept));
  std::vector<int> extents;
  for (size_t d = 0; d < kept.size(); ++d) extents.push_back(kept[d] == 1 ? integer(1) : extent(value, static_cast<int64_t>(d)));
  return reshape_to(reduced, stack(extents, DType::i64), true);
}

Expected<int> ComputeBuilder::scan(ExprOp op, int value, int64_t dim, bool exclusive, bool reverse) {
  const TensorType from = type(value);
  const std::optional<uint64_t> identity = identity_bits(op, from.dtype);
  if (!identity)
    return unsupported("a scan of " + std::string(name(from.dtype)) + " by " + std::string(name(op)) + " has no first value");
  Compute compute;
  compute.op = ComputeOp::scan;
  // What nothing is added to is -0, so that all sums keep their sign; but the sum of nothing, which an exclusive scan begins with, is 0.
  const bool is_zero = exclusive && op == ExprOp::add;
  compute.arguments = {value, is_zero ? scalar(Scalar::of(from.dtype, 0)) : scalar({from.dtype, {*identity, 0}})};
  compute.dims = {dim, exclusive ? 1 : 0, reverse ? 1 : 0};
  compute.function = reducer(op, from.dtype);
  compute.results = {from};
  return add(std::move(compute));
}

Expected<int> ComputeBuilder::range(int start, int limit, int delta) {
  const DType dtype = type(start).dtype;
  const auto one = [&](int value) {
    const auto list = integers(value);
    return list && list->size() == 1 ? std::optional<int64_t>(list->front()) : std::nullopt;
  };
  const std::optional<int64_t> first = one(start), last = one(limit), step = one(delta);
  if (!is_integer(dtype)) return unsupported("the numbers are " + std::string(name(dtype)) + ", expected integers");
  if (!first || !step || *step == 0)
    return unsupported("start or delta is computed when the model runs, expected constants other than a delta of 0");
  Compute compute;
  compute.op = ComputeOp::iota;
  compute.dims = {0};
  if (last) {
    const std::optional<int64_t> count = checked::steps(*first, *last, *step);
    if (!count) return invalid_argument("the number of elements does not fit 63 bits");
    compute.results = {{dtype, {*count}, {}}};
  } else {
    if (*first != 0 || *step != 1)
      return unsupported("limit is computed when the model runs, expected a start of 0 and a delta of 1 then");
    compute.results = {{dtype, {kDynamic}, {}}};
    compute.takes_shape = true;
    STREW_ASSIGN(const int count, convert(limit, DType::i64));
    compute.arguments = {stack({count}, DType::i64)};
  }
  STREW_ASSIGN(int out, add(std::move(compute)));
  if (*step != 1) {
    STREW_ASSIGN(out, apply(ExprOp::mul, {out, integer(*step, dtype)}));
  }
  if (*first == 0) return out;
  return apply(ExprOp::add, {out, integer(*first, dtype)});
}

}  // namespace strew::inline v0
