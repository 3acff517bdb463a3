// See shrink.h. Shrinking is greedy: a simplification is kept if the op still fails, and rounds repeat until none
// helps. Tested by tests/unit/differential/differential_test.cc.
#include "tests/differential/shrink.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/op/ordered.h"

namespace strew::test {
namespace {

using Step = std::function<bool(Blueprint&)>;  ///< returns false if the step does not apply

bool make_static(Blueprint& b) {
  bool changed = false;
  for (TensorPlan* t : tensors_of(b))
    for (DimRef& dim : t->dims) changed |= std::exchange(dim.dynamic, false);
  for (LookupPlan& lookup : b.lookups)
    for (DimRef& dim : lookup.window) changed |= std::exchange(dim.dynamic, false);
  for (size_t d = 0; d < b.dynamic_slice.size(); ++d) {
    changed |= b.dynamic_slice[d];
    b.dynamic_slice[d] = false;
  }
  return changed;
}

bool make_contiguous(Blueprint& b) {
  bool changed = false;
  for (TensorPlan* t : tensors_of(b)) {
    changed |= !t->layout.contiguous;
    t->layout = {};
  }
  return changed;
}

bool clear_options(Blueprint& b) {
  if (Scatter* s = std::get_if<Scatter>(&b.frame)) {
    const Scatter before = *s;
    s->indices_are_sorted = s->unique_indices = s->normalize_negative = false;
    s->order = Order::in_order;
    return !(before == *s);
  }
  Gather& g = std::get<Gather>(b.frame);
  const Gather before = g;
  g.indices_are_sorted = g.normalize_negative = false;
  return !(before == g);
}

/// Keeps the first pair of operand and update only, if its result depends on no other.
bool one_pair(Blueprint& b) {
  Scatter* s = std::get_if<Scatter>(&b.frame);
  if (s == nullptr || b.results.size() == 1 || !s->extras.empty() || !s->lookups.empty() || !s->row_reductions.empty())
    return false;
  if (s->combiner == CombinerKind::expr) {
    s->expr.results.resize(1);
    s->expr = ordered(s->expr);
    const std::vector<ExprNode>& nodes = s->expr.nodes;
    if (std::any_of(nodes.begin(), nodes.end(), [](const ExprNode& node) { return node.index != 0; })) return false;
  }
  b.results.resize(1);
  b.operands.resize(1);
  b.updates.resize(1);
  if (!s->fill.empty()) s->fill.resize(1);
  return true;
}

/// Binds what the last look-up makes.
bool one_lookup_less(Blueprint& b) {
  if (b.lookups.empty()) return false;
  std::get<Scatter>(b.frame).lookups.pop_back();
  b.lookups.pop_back();
  return true;
}

bool no_graph(Blueprint& b) {
  Gather* g = std::get_if<Gather>(&b.frame);
  if (g == nullptr || g->expr.empty()) return false;
  g->expr = {};
  g->extras.clear();
  b.extras.clear();
  return true;
}

Step lower(size_t variable, int64_t value) {
  return [=](Blueprint& b) {
    Variable& v = b.variables[variable];
    if (v.most <= value) return false;
    v.most = value;
    for (Variable& other : b.variables)
      if (other.at_most >= 0) other.most = std::min(other.most, b.variables[static_cast<size_t>(other.at_most)].most);
    return true;
  };
}

}  // namespace

Blueprint shrink(Blueprint best, const std::function<bool(const Blueprint&)>& still_fails) {
  int budget = 200;
  bool progress = true;
  while (progress && budget > 0) {
    progress = false;
    std::vector<Step> steps{make_static, make_contiguous, clear_options, one_lookup_less, one_pair, no_graph};
    for (size_t v = 0; v < best.variables.size(); ++v)
      for (const int64_t value : {int64_t{1}, int64_t{2}, best.variables[v].most / 2, best.variables[v].most - 1})
        if (value >= 1) steps.push_back(lower(v, value));
    for (const Step& step : steps) {
      Blueprint candidate = best;
      if (budget <= 0 || !step(candidate)) continue;
      --budget;
      if (!still_fails(candidate)) continue;
      best = std::move(candidate);
      progress = true;
    }
  }
  return best;
}

}  // namespace strew::test
