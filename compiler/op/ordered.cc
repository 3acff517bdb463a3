// See ordered.h. The walk does not recurse, because an expression may be as deep as it has nodes. A map finds equal nodes. Tested by
// tests/unit/compiler/rewrite/identity_test.cc.
#include "compiler/op/ordered.h"

#include <map>

#include "strew/expr_builder.h"

namespace strew::inline v0 {

Expr ordered(const Expr& expr) {
  ExprBuilder e;
  std::map<ExprNode, int32_t> known;  // nodes of `e`
  std::vector<int32_t> place(expr.nodes.size(), -1), open, results;
  const auto place_of = [&](int32_t node) -> int32_t& { return place[node]; };
  for (const int32_t root : expr.results) {
    open.push_back(root);
    while (!open.empty()) {
      const int32_t number = open.back();
      const size_t before = open.size();
      ExprNode node = expr.node(number);
      // Pushes the last argument first, so that the first argument is taken first.
      for (size_t i = node.args.size(); place_of(number) < 0 && i-- > 0;)
        if (place_of(node.args[i]) < 0) open.push_back(node.args[i]);
      if (open.size() > before) continue;
      open.pop_back();
      if (place_of(number) >= 0) continue;
      for (int32_t& arg : node.args) arg = place_of(arg);
      const auto [found, is_new] = known.emplace(std::move(node), static_cast<int32_t>(e.size()));
      if (is_new) e.copy(expr.node(number), place);
      place_of(number) = found->second;
    }
    results.push_back(place_of(root));
  }
  return e.returns(std::move(results));
}

}  // namespace strew::inline v0
