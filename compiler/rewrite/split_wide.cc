// See split_wide.h. The fold converts updates directly to the wide dtype (docs/semantics.md section 2). Narrow compares
// bits instead of values, so that untouched elements keep signalling NaNs and the sign of zero. Tested by
// tests/unit/compiler/rewrite/split_wide_test.cc and tests/differential.
#include "compiler/rewrite/split_wide.h"

#include <numeric>

#include "base/number.h"

namespace strew::inline v0 {
namespace {

/// Appends the graph of one result of narrow. current: the element; update: its accumulator.
void add_narrowing(Expr& graph, int pair, DType dtype, DType wide) {
  const DType bits_dtype = wide == DType::f64 ? DType::u64 : DType::u32;
  const auto push = [&](ExprOp op, DType type, std::vector<int32_t> args, int index = 0) {
    graph.nodes.push_back({op, type, std::move(args), index, {}});
    return static_cast<int32_t>(graph.nodes.size()) - 1;
  };
  const int32_t current = push(ExprOp::current, dtype, {}, pair);
  const int32_t sum = push(ExprOp::update, wide, {}, pair);
  const int32_t start = push(ExprOp::convert, wide, {current});
  const int32_t start_bits = push(ExprOp::bitcast, bits_dtype, {start});
  const int32_t end_bits = push(ExprOp::bitcast, bits_dtype, {sum});
  const int32_t same = push(ExprOp::eq, DType::boolean, {start_bits, end_bits});
  // A NaN stays a NaN whatever is added to it, so the element may be kept. The bits do not tell: two conversions of a
  // NaN (a fill value is converted here, not by the kernel) may differ in payload.
  const int32_t is_nan = push(ExprOp::ne, DType::boolean, {start, start});
  const int32_t untouched = push(ExprOp::bit_or, DType::boolean, {same, is_nan});
  const int32_t rounded = push(ExprOp::convert, dtype, {sum});
  graph.results.push_back(push(ExprOp::select, dtype, {untouched, current, rounded}));
}

/// Makes `part` a scatter of one position whose window is the whole result.
void whole_window(Scatter& part, const Scatter& original) {
  part.accumulate = Accumulate::native;
  part.order = Order::in_order;
  part.normalize_negative = part.indices_are_sorted = part.unique_indices = false;
  part.oob = OobPolicy::undefined;
  part.extras.clear();
  part.indices = {DType::i32, {0}, {}};
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
  const DType wide = s->accumulate == Accumulate::wide_f64 ? DType::f64 : DType::f32;

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
  for (size_t i = 0; i < s->results.size(); ++i) add_narrowing(narrow.expr, static_cast<int>(i), s->results[i].dtype, wide);
  return split;
}

}  // namespace strew::inline v0
