// Recognition is exact: current and update may change places only where the result's bits do not depend on it (add, mul, min, max
// and the bitwise ones; a NaN's payload is unspecified anyway), so subtract(update, current) stays a graph. The update may come
// through the conversion to the element type that promotion puts there. Covered by tests/unit/stablehlo_region_test.cc.
#include "compiler/import/prune.h"

#include <array>
#include <optional>

namespace strew {
namespace {

struct Row {
  ExprOp op;
  CombinerKind kind;
  bool commutes;
};
constexpr std::array kRows{
    Row{ExprOp::add, CombinerKind::add, true},         Row{ExprOp::sub, CombinerKind::sub, false},
    Row{ExprOp::mul, CombinerKind::mul, true},         Row{ExprOp::div, CombinerKind::div, false},
    Row{ExprOp::min, CombinerKind::min, true},         Row{ExprOp::max, CombinerKind::max, true},
    Row{ExprOp::bit_and, CombinerKind::bit_and, true}, Row{ExprOp::bit_or, CombinerKind::bit_or, true},
    Row{ExprOp::bit_xor, CombinerKind::bit_xor, true},
};

const ExprNode& at(const Expr& expr, int32_t node) { return expr.nodes[static_cast<size_t>(node)]; }

bool is_current(const Expr& expr, int32_t node, int32_t pair) {
  return at(expr, node).op == ExprOp::current && at(expr, node).index == pair;
}

bool is_update(const Expr& expr, int32_t node, int32_t pair, DType dtype) {
  const ExprNode* n = &at(expr, node);
  if (n->op == ExprOp::convert && n->dtype == dtype) n = &at(expr, n->args[0]);
  return n->op == ExprOp::update && n->index == pair;
}

std::optional<CombinerKind> kind_of(const Expr& expr, int32_t pair) {
  const int32_t result = expr.results[static_cast<size_t>(pair)];
  const ExprNode& node = at(expr, result);
  if (is_update(expr, result, pair, node.dtype)) return CombinerKind::assign;
  for (const Row& row : kRows) {
    if (row.op != node.op) continue;
    if (is_current(expr, node.args[0], pair) && is_update(expr, node.args[1], pair, node.dtype)) return row.kind;
    if (row.commutes && is_update(expr, node.args[0], pair, node.dtype) && is_current(expr, node.args[1], pair)) return row.kind;
  }
  return std::nullopt;
}

}  // namespace

Expr pruned(const Expr& expr) {
  std::vector<bool> needed(expr.nodes.size(), false);
  for (const int32_t result : expr.results) needed[static_cast<size_t>(result)] = true;
  for (size_t i = expr.nodes.size(); i-- > 0;)
    if (needed[i])
      for (const int32_t arg : expr.nodes[i].args) needed[static_cast<size_t>(arg)] = true;
  Expr out;
  std::vector<int32_t> moved(expr.nodes.size(), -1);
  for (size_t i = 0; i < expr.nodes.size(); ++i) {
    if (!needed[i]) continue;
    moved[i] = static_cast<int32_t>(out.nodes.size());
    out.nodes.push_back(expr.nodes[i]);
    for (int32_t& arg : out.nodes.back().args) arg = moved[static_cast<size_t>(arg)];
  }
  for (const int32_t result : expr.results) out.results.push_back(moved[static_cast<size_t>(result)]);
  return out;
}

Combiner recognised(Expr expr) {
  std::optional<CombinerKind> all;
  for (size_t pair = 0; pair < expr.results.size(); ++pair) {
    const std::optional<CombinerKind> kind = kind_of(expr, static_cast<int32_t>(pair));
    if (!kind || (all && *all != *kind)) return {CombinerKind::expr, std::move(expr)};
    all = kind;
  }
  return {*all, {}};
}

}  // namespace strew
