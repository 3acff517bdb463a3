// See split_wide.h. The fold converts updates directly to the wide dtype (docs/semantics.md section 2). Narrow compares
// bits instead of values, so that untouched elements keep signalling NaNs and the sign of zero. Tested by
// tests/unit/compiler/rewrite/split_wide_test.cc and tests/differential.
#include "compiler/rewrite/split_wide.h"

#include <numeric>

#include "base/number.h"

namespace strew::inline v0 {
namespace {

/// Makes `part` a scatter of one position whose window is the whole result.
void whole_window(Scatter& part, const Scatter& original) {
  part.accumulate = Accumulate::native;
  part.order = Order::in_order;
  part.normalize_negative = part.indices_are_sorted = part.unique_indices = false;
  part.oob = OobPolicy::undefined;
  part.extras.clear();
  part.lookups.clear();
  part.indices = {DType::i32, {0}, {}};
  part.more_indices.clear();
  part.dims = {};
  part.dims.window_dims.resize(original.results[0].dims.size());
  std::iota(part.dims.window_dims.begin(), part.dims.window_dims.end(), 0);
}

/// Start: results = operands, converted. Every element is written, so init in_place reads nothing that was not written.
Scatter start_of(const Scatter& s) {
  Scatter start = s;
  whole_window(start, s);
  start.updates = s.operands;
  for (TensorType& result : start.results) result.strides.clear();
  start.operands = start.results;
  start.init = InitKind::in_place;
  start.combiner = CombinerKind::assign;
  return start;
}

bool converts_operands(const Scatter& s) {
  for (size_t i = 0; i < s.results.size(); ++i)
    if (s.init == InitKind::copy && s.operands[i].dtype != s.results[i].dtype) return true;
  return false;
}

}  // namespace

std::optional<WideSplit> split_wide(const VerifiedOp& op) {
  const auto* s = std::get_if<Scatter>(&*op);
  if (s == nullptr || s->accumulate == Accumulate::native) return std::nullopt;
  const DType wide = wide_dtype(s->accumulate);

  WideSplit split{*s, *s, std::nullopt};
  Scatter& fold = split.fold;
  fold.accumulate = Accumulate::native;
  if (s->init == InitKind::in_place) {
    fold.operands = s->results;
    fold.init = InitKind::copy;
  } else if (converts_operands(*s)) {
    split.start = start_of(*s);
    fold.operands = split.start->results;
  }
  for (Scalar& fill : fold.fill) fill = convert(fill, wide);
  for (TensorType& result : fold.results) result = {wide, result.dims, {}};

  Scatter& narrow = split.narrow;
  whole_window(narrow, *s);
  narrow.updates = fold.results;
  narrow.combiner = CombinerKind::expr;
  ExprBuilder graph;
  std::vector<int32_t> results;
  for (size_t i = 0; i < s->results.size(); ++i)
    results.push_back(add_narrowing(graph, static_cast<int32_t>(i), s->results[i].dtype, wide));
  narrow.expr = graph.returns(std::move(results));
  return split;
}

}  // namespace strew::inline v0
