// See prune.h. A node comes after the nodes that it reads, so one pass from the last node to the first finds all
// nodes that are needed. Tested by tests/unit/stablehlo_region_test.cc.
#include "compiler/import/prune.h"

namespace strew::inline v0 {

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

}  // namespace strew::inline v0
