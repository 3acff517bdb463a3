// See run.h. Visits every index position in row-major order, and every element of its window: loads the operand's element, or
// takes the fill value in its place, applies the expression graph (without a graph: converts), and stores the result.
//
// The fill value stands for the gathered element, so the graph applies to it as to any other. An element to which the
// policy gives no value is not written: clamp or wrap where an indexed dim has extent 0, or policy `undefined` with an
// index out of bounds. Tested by tests/unit/backends/reference/reference_gather_test.cc.
#include <vector>

#include "backends/reference/geometry.h"
#include "backends/reference/policy.h"
#include "backends/reference/run.h"
#include "compiler/evaluate/expr_eval.h"

namespace strew::inline v0::reference {

std::optional<strew_fault> run(const Gather& op, std::span<const TensorView> tensors) {
  const Bound bound(op, tensors);
  const BoundTensor &result = bound.results[0], &operand = bound.operands[0];
  const Geometry shape = geometry(op.dims, operand.dims, bound.indices[0].dims, result.dims);
  const Indices indices(shape, bound.sources[0]);
  const Stream output = slice_stream(shape, result);
  std::vector<Stream> extras;
  for (size_t i = 0; i < op.extras.size(); ++i) extras.push_back(extra_stream(shape, op.extras[i].kind, bound.extras[i]));
  Policy policy(shape, op.oob, op.normalize_negative);
  if (op.oob == OobPolicy::error)
    if (const auto fault = policy.find_fault(indices)) return fault;
  if (is_empty(shape.positions) || is_empty(shape.window)) return std::nullopt;

  const bool fills = is_fill(op.oob);
  scalar_eval::ExprEvaluator evaluator(op.expr);
  std::vector<Scalar> extra(extras.size());
  Coords position(shape.positions.size(), 0), in_window(shape.window.size(), 0), source(shape.target.size(), 0);
  do {
    policy.start(indices, position);
    const bool whole_window_filled = op.oob == OobPolicy::fill_window && !policy.window_inside();
    do {
      const bool inside = !whole_window_filled && policy.resolve(in_window, source);
      if (!inside && !fills) continue;
      Scalar value = inside ? operand.load(dot(source, operand.strides)) : op.fill;
      if (!op.expr.empty()) {
        for (size_t i = 0; i < extras.size(); ++i) extra[i] = extras[i].load(position, in_window);
        evaluator.run({&value, 1}, {}, extra);
        value = evaluator.result(0);
      }
      output.tensor.store(output.offset(position, in_window), convert(value, result.dtype));
    } while (next(shape.window, in_window));
  } while (next(shape.positions, position));
  return std::nullopt;
}

}  // namespace strew::inline v0::reference
