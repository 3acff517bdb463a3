// See grower.h: elementwise work, reductions and scans.
#include <algorithm>

#include "compiler/op/combiner.h"
#include "tests/differential/programs/grower.h"
#include "tests/differential/random_combiner.h"
#include "tests/differential/random_expr.h"

namespace strew::test {
namespace {

const std::vector<ExprOp>& folds() {
  static const std::vector<ExprOp> list{ExprOp::add, ExprOp::add,     ExprOp::mul,    ExprOp::min,
                                        ExprOp::max, ExprOp::bit_and, ExprOp::bit_or, ExprOp::bit_xor};
  return list;
}

/// Leaves out what the function does not read: a front end writes no such arguments, and what they need may fail.
std::vector<int> read_arguments(Expr& function, const std::vector<int>& arguments) {
  std::vector<int> place(arguments.size(), -1), out;
  std::vector<bool> is_read(function.nodes.size());
  for (const int32_t result : function.results) is_read[static_cast<size_t>(result)] = true;
  for (size_t n = function.nodes.size(); n-- > 0;)
    for (const int32_t argument : function.nodes[n].args)
      if (is_read[n]) is_read[static_cast<size_t>(argument)] = true;
  for (size_t n = 0; n < function.nodes.size(); ++n)
    if (is_read[n] && function.nodes[n].op == ExprOp::extra) place[static_cast<size_t>(function.nodes[n].index)] = 0;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (place[i] == 0) place[i] = static_cast<int>(out.size()), out.push_back(arguments[i]);
  for (ExprNode& node : function.nodes)
    if (node.op == ExprOp::extra) node.index = std::max(place[static_cast<size_t>(node.index)], 0);
  return out;
}

}  // namespace

/// A graph over one to three arguments: of the same dims, of rank 0, or of the last dims, which are repeated.
Expected<Drawn> Grower::map() {
  const Drawn base = any();
  std::vector<Drawn> arguments{base};
  for (int64_t n = rng_.below(3); n > 0; --n) {
    const DType dtype = rng_.chance(70) ? base.dtype : random_dtype();
    if (rng_.chance(25)) {
      arguments.push_back({scalar(dtype), dtype, {}, true});
      continue;
    }
    ExtentIds dims = base.dims;
    if (rng_.chance(25)) {
      dims.erase(dims.begin(), dims.begin() + rng_.between(0, static_cast<int64_t>(dims.size())));
      for (ExtentId& id : dims)
        if (rng_.chance(25)) id = out_.extents.constant(1);
    }
    arguments.push_back(like(dtype, dims));
  }
  std::vector<DType> dtypes;
  std::vector<int> values;
  for (const Drawn& each : arguments) {
    dtypes.push_back(each.dtype);
    values.push_back(each.value);
  }
  const DType result = rng_.chance(65) ? base.dtype : rng_.chance(30) ? DType::boolean : rng_.pick(arithmetic_dtypes());
  Expr function = random_function(dtypes, result);
  values = read_arguments(function, values);
  if (values.empty() || values[0] != base.value) return nothing("a function of less");  // the result would have other dims
  return made(builder().map(std::move(function), values, true), result, base.dims, false);
}

Expected<Drawn> Grower::convert() {
  const Drawn from = any();
  const DType to = rng_.pick(arithmetic_dtypes());
  if (!info(from.dtype).arithmetic || (is_complex(from.dtype) && !is_complex(to))) return nothing("no conversion");
  return made(builder().convert(from.value, to), to, from.dims, from.dtype == to && from.is_moved);
}

Expected<Drawn> Grower::apply() {
  const Drawn a = any();
  static const std::vector<ExprOp> ops{ExprOp::add, ExprOp::sub, ExprOp::mul, ExprOp::div, ExprOp::min,
                                       ExprOp::max, ExprOp::lt,  ExprOp::eq,  ExprOp::ge};
  const ExprOp op = rng_.pick(ops);
  const bool compares = op == ExprOp::lt || op == ExprOp::eq || op == ExprOp::ge;
  if (!takes(op, a.dtype)) return nothing("another dtype");
  const Drawn b = rng_.chance(30) ? Drawn{scalar(a.dtype), a.dtype, {}, true} : like(a.dtype, a.dims);
  return made(rng_.chance(50) ? builder().apply(op, {a.value, b.value}) : builder().apply(op, {b.value, a.value}),
              compares ? DType::boolean : a.dtype, a.dims, false);
}

Expected<Drawn> Grower::reduce() {
  const Drawn from = any(1);
  const ExprOp op = rng_.pick(folds());
  if (!takes(op, from.dtype)) return nothing("another dtype");
  std::vector<int64_t> axes;
  ExtentIds kept;
  const bool keep = rng_.chance(30);
  for (size_t d = 0; d < from.rank(); ++d) {
    if (rng_.chance(50)) {
      axes.push_back(static_cast<int64_t>(d));
      if (keep) kept.push_back(out_.extents.constant(1));
    } else {
      kept.push_back(from.dims[d]);
    }
  }
  if (axes.empty()) return nothing("no dims to reduce");
  return made(builder().reduce(op, from.value, axes, keep), from.dtype, kept, false);
}

/// One or two tensors by a function of current and new elements, as an arg-max is written.
Expected<Drawn> Grower::reduce_by_graph() {
  const Drawn from = any(1);
  std::vector<Drawn> inputs{from};
  if (rng_.chance(40)) inputs.push_back(like(rng_.chance(50) ? DType::i64 : from.dtype, from.dims));
  std::vector<ExprInput> graph_inputs;
  std::vector<DType> results;
  std::vector<int> values, initials;
  for (const Drawn& each : inputs) {
    const auto n = static_cast<int>(results.size());
    graph_inputs.push_back({ExprOp::current, n, each.dtype});
    graph_inputs.push_back({ExprOp::update, n, each.dtype});
    results.push_back(each.dtype);
    values.push_back(each.value);
    initials.push_back(scalar(each.dtype));
  }
  std::vector<int64_t> axes;
  ExtentIds kept;
  for (size_t d = 0; d < from.rank(); ++d) {
    if (rng_.chance(60))
      axes.push_back(static_cast<int64_t>(d));
    else
      kept.push_back(from.dims[d]);
  }
  const Expected<std::vector<int>> reduced =
      builder().reduce(random_expr(rng_, graph_inputs, results, {2, false}), values, initials, axes);
  if (!reduced.ok()) return reduced.status();
  for (size_t i = 1; i < reduced->size(); ++i) drawn_.push_back({(*reduced)[i], results[i], kept, false});
  return Drawn{(*reduced)[0], from.dtype, kept, false};
}

Expected<Drawn> Grower::scan() {
  const Drawn from = any(1);
  const ExprOp op = rng_.pick(folds());
  if (!takes(op, from.dtype)) return nothing("another dtype");
  return made(builder().scan(op, from.value, rng_.below(static_cast<int64_t>(from.rank())), {rng_.chance(40), rng_.chance(40)}),
              from.dtype, from.dims, false);
}

}  // namespace strew::test
