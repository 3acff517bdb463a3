// See combiner.h. kind_of() accepts swapped arguments only of operators that commute, so subtract(update, current) stays a graph.
// It accepts an update that is converted to the result's dtype, because StableHLO's promotion inserts this conversion. Tested by
// tests/unit/compiler/op/combiner_test.cc and tests/unit/compiler/import/stablehlo/stablehlo_region_test.cc.
#include "compiler/op/combiner.h"

#include <array>
#include <limits>

#include "base/number.h"
#include "strew/expr_builder.h"

namespace strew::inline v0 {
namespace {

using E = ExprOp;
using K = CombinerKind;

// A partial result of sub starts from 0 and is minus the sum of its updates, so partial results are merged by add.
constexpr std::array kTable{
    //             op          name        commutes order-free merges by
    CombinerTraits{E::add, K::add, true, false, E::add},
    CombinerTraits{E::sub, K::sub, false, false, E::add},
    CombinerTraits{E::mul, K::mul, true, false, E::mul},
    CombinerTraits{E::div, K::div, false, false, E::div},
    CombinerTraits{E::min, K::min, true, true, E::min},
    CombinerTraits{E::max, K::max, true, true, E::max},
    CombinerTraits{E::bit_and, K::bit_and, true, true, E::bit_and},
    CombinerTraits{E::bit_or, K::bit_or, true, true, E::bit_or},
    CombinerTraits{E::bit_xor, K::bit_xor, true, true, E::bit_xor},
};

/// The largest or smallest value of a dtype: of a float, an infinity, or, without infinities, the last bit pattern before the NaNs.
uint64_t extreme(DType dtype, bool largest) {
  if (dtype == DType::boolean) return largest ? 1 : 0;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  uint64_t code = encode(dtype, largest ? kInfinity : -kInfinity);
  if (!is_nan(dtype, code)) return code;
  code = ~uint64_t{0} >> (64 - bits(dtype) + (largest ? 1 : 0));
  while (is_nan(dtype, code)) --code;
  return code;
}

template <class Key>
const CombinerTraits* row_with(Key CombinerTraits::*key, Key value) {
  for (const CombinerTraits& row : kTable)
    if (row.*key == value) return &row;
  return nullptr;
}

/// The name of the operator that gives result `pair` from its current value and update; assign if the result is the update.
CombinerKind kind_of(const Expr& graph, int32_t pair) {
  const int32_t result = graph.results[pair];
  const ExprNode& node = graph.node(result);
  if (is_input(graph, result, ExprOp::update, pair, node.dtype)) return CombinerKind::assign;
  const CombinerTraits* const row = find_combiner(node.op);
  const auto folds = [&](size_t current, size_t update) {
    return is_input(graph, node.args[current], ExprOp::current, pair, node.dtype) &&
           is_input(graph, node.args[update], ExprOp::update, pair, node.dtype);
  };
  return row != nullptr && (folds(0, 1) || (row->commutes && folds(1, 0))) ? row->kind : CombinerKind::expr;
}

}  // namespace

std::span<const CombinerTraits> combiner_traits() { return kTable; }

const CombinerTraits* find_combiner(ExprOp op) { return row_with(&CombinerTraits::op, op); }
const CombinerTraits* find_combiner(CombinerKind kind) { return row_with(&CombinerTraits::kind, kind); }

bool takes(ExprOp op, DType dtype) {
  const auto family = [](DTypeKind kind) { return 1U << static_cast<unsigned>(kind); };
  static_assert(expr_dtypes::boolean == 1U << static_cast<unsigned>(DTypeKind::boolean) &&
                expr_dtypes::complexes == 1U << static_cast<unsigned>(DTypeKind::complex));
  return info(dtype).arithmetic && (info(op).arguments & family(info(dtype).kind)) != 0;
}

bool regroups_exactly(ExprOp op, DType dtype) {
  const CombinerTraits* const row = find_combiner(op);
  return row != nullptr && identity_bits(op, dtype) && (row->order_free || !is_float(dtype));
}

std::optional<uint64_t> identity_bits(ExprOp op, DType dtype) {
  if (find_combiner(op) == nullptr || !takes(op, dtype) || is_complex(dtype)) return std::nullopt;
  if (op == ExprOp::mul) return encode(dtype, 1.0);
  if (op == ExprOp::min || op == ExprOp::max) return extreme(dtype, op == ExprOp::min);
  if (op == ExprOp::bit_and) return encode_i64(dtype, -1);
  if (op == ExprOp::add || op == ExprOp::sub || op == ExprOp::bit_or || op == ExprOp::bit_xor) return encode(dtype, -0.0);
  return std::nullopt;
}

ExprOp merge_of(ExprOp op) {
  const CombinerTraits* const row = find_combiner(op);
  return row != nullptr ? row->merges_by : op;
}

Expr combine_graph(const Op& op) {
  ExprBuilder e;
  if (const auto* g = std::get_if<Gather>(&op)) {
    if (!g->expr.empty()) return g->expr;
    const int32_t gathered = e.current(0, g->operand.dtype);
    return e.returns({e.as(gathered, g->result.dtype)});
  }
  const auto& s = std::get<Scatter>(op);
  if (s.combiner == CombinerKind::expr) return s.expr;
  const CombinerTraits* const row = find_combiner(s.combiner);
  std::vector<int32_t> results;
  for (size_t i = 0; i < s.results.size(); ++i) {
    const auto pair = static_cast<int32_t>(i);
    const DType dtype = s.results[i].dtype;
    const int32_t update = e.update(pair, i < s.updates.size() ? s.updates[i].dtype : dtype);
    int32_t value = e.as(update, dtype);
    if (row != nullptr) {
      const int32_t current = e.current(pair, dtype);
      value = e.apply(row->op, {current, value});
    }
    results.push_back(value);
  }
  return e.returns(std::move(results));
}

bool is_input(const Expr& graph, int32_t node, ExprOp input, int32_t index, DType dtype) {
  const ExprNode* n = &graph.node(node);
  if (n->op == ExprOp::convert && n->dtype == dtype) n = &graph.node(n->args[0]);
  return n->op == input && n->index == index;
}

CombinerKind kind_of(const Expr& graph) {
  if (graph == Expr{}) return CombinerKind::assign;
  std::optional<CombinerKind> all;
  for (size_t pair = 0; pair < graph.results.size(); ++pair) {
    const CombinerKind kind = kind_of(graph, static_cast<int32_t>(pair));
    if (all.value_or(kind) != kind) return CombinerKind::expr;
    all = kind;
  }
  return all.value_or(CombinerKind::expr);
}

void set_combiner(Scatter& op, Expr graph) {
  op.combiner = kind_of(graph);
  op.expr = op.combiner == CombinerKind::expr ? std::move(graph) : Expr{};
}

bool sums_floats(const Scatter& scatter) {
  const CombinerTraits* const row = find_combiner(scatter.combiner);
  const bool depends_on_order = row != nullptr ? !row->order_free : scatter.combiner == CombinerKind::expr;
  return depends_on_order && (is_float(scatter.results[0].dtype) || is_complex(scatter.results[0].dtype));
}

}  // namespace strew::inline v0
