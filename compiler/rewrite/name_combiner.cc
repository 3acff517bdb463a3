// See name_combiner.h. The graph is compared with the graph of each name (compiler/op/combiner) after the nodes of both
// were brought into one order. Arguments are not swapped, because the bits of a sum of two NaNs may depend on their
// order. Tested by tests/unit/identity_test.cc.
#include "compiler/rewrite/name_combiner.h"

#include <algorithm>

#include "compiler/op/combiner.h"
#include "compiler/rewrite/order_expression.h"
#include "strew/verify.h"

namespace strew::inline v0 {
namespace {

/// Does `plain` verify, and is its combiner, with the nodes in order, equal to `graph`?
bool means(const Op& plain, const Expr& graph) { return ordered(combine_graph(plain)) == graph && verify(plain).ok(); }

}  // namespace

bool name_combiner(Op& op) {
  if (auto* g = std::get_if<Gather>(&op)) {
    if (g->expr.empty() || !g->extras.empty()) return false;
    Gather plain = *g;
    plain.expr = {};
    if (!means(plain, ordered(g->expr))) return false;
    op = std::move(plain);
    return true;
  }
  auto& s = std::get<Scatter>(op);
  if (!s.extras.empty() || combiner_kind(s) != CombinerKind::expr) return false;
  if (s.combiner.nodes.size() > 4 * s.results.size()) return false;  // per result: update, convert, current, operator
  const Expr graph = ordered(s.combiner);
  const auto is_named = [&](CombinerKind kind) {
    Scatter plain = s;
    plain.combiner = spelled(plain, kind);
    if (!means(plain, graph)) return false;
    op = std::move(plain);
    return true;
  };
  if (is_named(CombinerKind::assign)) return true;
  const std::span<const CombinerTraits> rows = combiner_traits();
  return std::any_of(rows.begin(), rows.end(), [&](const CombinerTraits& row) { return is_named(row.kind); });
}

}  // namespace strew::inline v0
