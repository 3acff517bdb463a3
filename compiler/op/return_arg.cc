// ScatterBuilder::return_arg (strew/builder.h): the second pair of a scatter that takes maxima or minima, which has the positions that won. Tested by
// tests/unit/backends/return_arg_test.cc.
#include <algorithm>
#include <optional>

#include "compiler/op/combiner.h"
#include "compiler/op/message.h"
#include "strew/builder.h"

namespace strew::inline v0 {
namespace {

/// The scatter's graph: result 0 is `op` of the current value, node `current`, and of `update`, which reads no current value.
struct Extremum {
  Expr graph;
  ExprOp op = ExprOp::max;
  DType dtype = DType::f32;
  int32_t current = 0, update = 0;
};

/// Does the node depend on a current value?
bool reads_current(const Expr& graph, int32_t node) {
  std::vector<bool> reads;
  for (int32_t n = 0; n <= node; ++n) {
    const ExprNode& each = graph.node(n);
    reads.push_back(each.op == ExprOp::current ||
                    std::ranges::any_of(each.args, [&](int32_t arg) { return arg < n && reads[static_cast<size_t>(arg)]; }));
  }
  return reads.back();
}

std::optional<Extremum> extremum_of(const Scatter& s, DType dtype) {
  Scatter typed = s;
  typed.results = {{dtype, {}, {}}};
  Extremum out{combine_graph(typed)};
  const Expr& graph = out.graph;
  if (graph.results.size() != 1 || !verify(graph, 1, 1, static_cast<int>(s.extras.size())).ok()) return std::nullopt;
  const ExprNode& result = graph.node(graph.results[0]);
  if (result.op != ExprOp::max && result.op != ExprOp::min) return std::nullopt;
  out.op = result.op;
  out.dtype = result.dtype;
  for (const auto& [current, update] : {std::pair(result.args[0], result.args[1]), std::pair(result.args[1], result.args[0])}) {
    if (graph.node(current).op != ExprOp::current || reads_current(graph, update)) continue;
    out.current = current;
    out.update = update;
    return out;
  }
  return std::nullopt;
}

DType unsigned_of(DType dtype) {
  for (const DType each : {DType::u4, DType::u8, DType::u16, DType::u32})
    if (bits(each) == bits(dtype)) return each;
  return DType::u64;
}

/// Appends: does the update win against the current value? Of floats the extremum differs from the current value then, in its bits: so +0 wins against -0,
/// and a NaN against a number. Nothing wins against a NaN.
int32_t wins(ExprBuilder& e, const Extremum& of, int32_t extremum) {
  if (!is_float(of.dtype)) return e.apply(of.op == ExprOp::max ? ExprOp::gt : ExprOp::lt, {of.update, of.current});
  const DType as_bits = unsigned_of(of.dtype);
  const int32_t before = e.bitcast(of.current, as_bits), after = e.bitcast(extremum, as_bits);
  const int32_t differs = e.apply(ExprOp::ne, {before, after}), is_number = e.apply(ExprOp::eq, {of.current, of.current});
  return e.apply(ExprOp::bit_and, {differs, is_number});
}

/// The graph of both pairs. `from_nothing`: the first update of an element wins, whatever it is.
Expr with_positions(const Extremum& of, bool from_nothing) {
  ExprBuilder e;
  std::vector<int32_t> moved;
  for (const ExprNode& node : of.graph.nodes) moved.push_back(e.copy(node, moved));
  int32_t update_wins = wins(e, of, of.graph.results[0]);
  const int32_t position = e.current(1, DType::i64);
  if (from_nothing) {
    const int32_t zero = e.literal(Scalar::of(int64_t{0}));
    const int32_t is_none = e.apply(ExprOp::lt, {position, zero});
    update_wins = e.apply(ExprOp::bit_or, {update_wins, is_none});
  }
  const int32_t next = e.update(1, DType::i64);
  return e.returns({of.graph.results[0], e.apply(ExprOp::select, {update_wins, next, position})});
}

/// The strides of a tensor that says the same of all elements of a window.
std::vector<int64_t> strides_of_positions(const Scatter& s) {
  std::vector<int64_t> strides(s.updates[0].dims.size(), kDynamic);
  for (const int64_t d : s.dims.window_dims)
    if (d >= 0 && d < s.updates[0].rank()) strides[static_cast<size_t>(d)] = 0;
  return strides;
}

Status check(const Scatter& s, DType dtype, const std::optional<Extremum>& of) {
  if (s.operands.size() != 1 || s.updates.size() != 1 || s.results.size() > 1)
    return invalid_argument(
        "return_arg: {} operands, {} updates and {} results; expected 1, 1 and at most 1: it adds the second ones",
        s.operands.size(), s.updates.size(), s.results.size());
  if (!of || of->dtype != dtype)
    return invalid_argument(
        "return_arg: combiner is {}; expected max or min, or an expression that returns maximum or minimum of current(0):{} and "
        "of what reads no "
        "current value",
        s.combiner, dtype);
  if (s.init != InitKind::fill || s.fill.empty()) return {};
  const std::optional<uint64_t> identity = identity_bits(of->op, dtype);
  const Scalar none{dtype, {identity.value_or(0), 0}};
  if (identity && s.fill.size() == 1 && s.fill[0] == none) return {};
  return invalid_argument(
      "return_arg: fill is {}; expected {}, than which no update is {}, or none: only a value of the operand (init copy or "
      "in_place) "
      "takes part beside the updates",
      s.fill[0], none, of->op == ExprOp::max ? "less" : "greater");
}

}  // namespace

ScatterBuilder& ScatterBuilder::return_arg() {
  const DType dtype = !op_.results.empty() ? op_.results[0].dtype : !op_.operands.empty() ? op_.operands[0].dtype : DType::f32;
  std::optional<Extremum> of;
  if (op_.operands.size() == 1 && op_.updates.size() == 1 && takes(ExprOp::max, dtype)) of = extremum_of(op_, dtype);
  if (Status bad = check(op_, dtype, of); !bad.ok()) return fail(std::move(bad));
  const bool fills = op_.init == InitKind::fill;
  combine(with_positions(*of, fills));
  if (fills) op_.fill = {{dtype, {*identity_bits(of->op, dtype), 0}}, Scalar::of(int64_t{-1})};
  op_.operands.push_back({DType::i64, op_.operands[0].dims, {}});
  op_.updates.push_back({DType::i64, op_.updates[0].dims, strides_of_positions(op_)});
  if (!op_.results.empty()) op_.results.push_back({DType::i64, op_.results[0].dims, {}});
  return *this;
}

}  // namespace strew::inline v0
