// Where equal indices follow each other, each combine waits for the load of what the last one stored, several cycles more than the arithmetic.
// The value stored is kept beside its address, and loaded only where the address is another one: a branch, which is right for whole
// runs, and wrong once per run: with fewer than about seven updates per element plain loads are faster (one per element: 0.7 against 1.7 to
// 3 ns on Zen 3; 64: 3.0 against 0.7), so the sizes must promise that many. What is kept is the storage form, and every value is still stored, so the bits are those of loads. Tested by tests/differential
// (every dtype with sorted indices) and tests/golden/machine_code_test.cc.
#include "backends/llvm/compute/register_run.h"

#include <algorithm>

#include "backends/llvm/compute/evaluate.h"

namespace strew {
using llvm::Value;

namespace {

/// How many updates there are for an element, on average; 0 where sizes are not known.
int64_t updates_per_element(const Plan& plan) {
  const auto result = static_cast<size_t>(plan.result(0));
  __int128 positions = 1, elements = 1;
  constexpr __int128 kMost = __int128{1} << 62;
  for (const Loop& loop : plan.positions) {
    if (!loop.extent.is_static() || positions > kMost) return 0;
    positions *= loop.extent.factor;
    if (!loop.strides[result].is(0)) elements *= loop.extent.factor;
  }
  for (const Component& c : plan.components) {
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
  if (!plan.sorted.holds || plan.unique.holds || updates_per_element(plan) < kUpdates) return false;
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
  const std::vector<Value*> stored = evaluate(f_, body, p, 1, std::vector<bool>(p.size(), false));
  b.CreateStore(stored[0], value_);
  b.CreateStore(at, last_);
}

}  // namespace strew
