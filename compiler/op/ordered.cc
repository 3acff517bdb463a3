// See ordered.h. The walk does not recurse, because an expression may be as deep as it has nodes. A map from the fields of a
// node finds equal nodes. Tested by tests/unit/compiler/rewrite/identity_test.cc.
#include "compiler/op/ordered.h"

#include <map>
#include <tuple>

namespace strew::inline v0 {
namespace {

class Ordering {
 public:
  explicit Ordering(const Expr& from) : from_(from), place_(from.nodes.size(), -1) {}

  int32_t add(int32_t root) {
    std::vector<int32_t> open = {root};
    while (!open.empty()) {
      const int32_t node = open.back();
      const ExprNode& at = from_.nodes[static_cast<size_t>(node)];
      const size_t before = open.size();
      // Pushes the last argument first, so that the first argument is taken first.
      for (size_t i = at.args.size(); place(node) < 0 && i-- > 0;)
        if (place(at.args[i]) < 0) open.push_back(at.args[i]);
      if (open.size() > before) continue;
      open.pop_back();
      if (place(node) < 0) place_[static_cast<size_t>(node)] = put(at);
    }
    return place(root);
  }
  Expr result;

 private:
  using Fields = std::tuple<ExprOp, DType, std::vector<int32_t>, int32_t, DType, uint64_t, uint64_t>;

  int32_t place(int32_t node) const { return place_[static_cast<size_t>(node)]; }
  int32_t put(ExprNode node) {
    for (int32_t& arg : node.args) arg = place(arg);
    const Fields fields{node.op, node.dtype, node.args, node.index, node.value.dtype, node.value.bits[0], node.value.bits[1]};
    const auto [found, is_new] = known_.emplace(fields, static_cast<int32_t>(result.nodes.size()));
    if (is_new) result.nodes.push_back(std::move(node));
    return found->second;
  }

  const Expr& from_;
  std::vector<int32_t> place_;
  std::map<Fields, int32_t> known_;
};

}  // namespace

Expr ordered(const Expr& expr) {
  Ordering ordering(expr);
  for (const int32_t root : expr.results) {
    const int32_t place = ordering.add(root);
    ordering.result.results.push_back(place);
  }
  return std::move(ordering.result);
}

}  // namespace strew::inline v0
