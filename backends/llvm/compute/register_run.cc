// See register_run.h. Without it, each update of a run of equal indices waits for the load of what the previous
// update stored, which takes several cycles more than the arithmetic. Here the element is loaded only if its address
// differs from the previous one. That is a branch, which is mispredicted about once per run of equal indices. On Zen
// 3, with one update per element, an update takes 0.7 ns with plain loads and 1.7 to 3 ns with the register; with 64
// updates per element, 3.0 ns and 0.7 ns. The two are equal at about seven, so pays() asks the plan's sizes for at
// least kUpdates.
//
// The register holds the element's storage form, and every result is still stored, so all bits are those that plain loads would give.
// Tested by tests/differential (every dtype with sorted indices) and tests/golden/machine_code_test.cc.
#include "backends/llvm/compute/register_run.h"

#include <algorithm>

#include "backends/llvm/compute/evaluate.h"
#include "backends/lower/lower_numeric.h"

namespace strew::inline v0 {
using llvm::Value;

namespace {

/// The average number of updates per element of the result; 0 if the sizes are not constant.
int64_t updates_per_element(const Plan& plan) {
  const auto result = static_cast<size_t>(plan.result(0));
  __int128 positions = 1, elements = 1;
  constexpr __int128 kMost = __int128{1} << 62;
  for (const Loop& loop : plan.positions) {
    if (!loop.extent.is_static() || positions > kMost) return 0;
    positions *= loop.extent.factor;
    if (!loop.strides[result].is(0)) elements *= loop.extent.factor;
  }
  for (const Component& c : plan.primary().components) {
    if (!c.dim.is_static() || elements > kMost) return 0;
    elements *= c.dim.factor;
  }
  return elements == 0 ? 0 : static_cast<int64_t>(std::min(positions / elements, kMost));
}

}  // namespace

bool RegisterRun::pays(const Frame& f) {
  constexpr int64_t kWidest = 8, kUpdates = 8;
  const Plan& plan = f.plan;
  if (plan.gather || plan.pairs != 1 || !plan.window.empty() || plan.pure_move) return false;
  if (!plan.primary().sorted.holds || plan.unique.holds || updates_per_element(plan) < kUpdates) return false;
  const int result = plan.result(0);
  if (f.packed(result) || f.element_bytes(result) > kWidest) return false;
  const auto& nodes = plan.combine.nodes;
  return std::any_of(nodes.begin(), nodes.end(), [](const ExprNode& node) { return node.op == ExprOp::current; });
}

RegisterRun::RegisterRun(Frame& frame) : f_(frame) {
  llvm::Type* type = f_.numeric.storage_type(f_.plan.tensors[static_cast<size_t>(f_.plan.result(0))].dtype, 1);
  last_ = f_.e.slot(f_.e.b.getPtrTy());
  value_ = f_.e.slot(type);
  current_ = f_.e.slot(type);
}

void RegisterRun::apply(const Pointers& p) {
  auto& b = f_.e.b;
  const int result = f_.plan.result(0);
  Value* at = p[static_cast<size_t>(result)];
  f_.e.when_likely(
      b.CreateICmpEQ(at, b.CreateLoad(b.getPtrTy(), last_)),
      [&] { b.CreateStore(b.CreateLoad(value_->getAllocatedType(), value_), current_); },
      [&] { b.CreateStore(f_.load_element(result, at, 1), current_); });
  Body body = range_body(f_.plan, false);
  body.current_in_register = b.CreateLoad(current_->getAllocatedType(), current_);
  const lowered::Graph graph = lower_numeric(*body.expr, f_.numeric.natives());
  const std::vector<Value*> stored = evaluate(f_, body, graph, p, 1, std::vector<bool>(p.size(), false));
  b.CreateStore(stored[0], value_);
  b.CreateStore(at, last_);
}

}  // namespace strew::inline v0
