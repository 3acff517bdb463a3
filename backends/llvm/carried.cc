// Where equal indices follow each other, each combine waits for the load of what the last one stored, several cycles more than the arithmetic.
// The value stored is kept beside its address, and loaded only where the address is another one: a branch, which is right for whole
// runs. What is kept is the storage form, and every value is still stored, so the bits are those of loads. Tested by tests/differential
// (every dtype with sorted indices) and tests/golden/machine_code_test.cc.
#include "backends/llvm/carried.h"

#include <algorithm>

#include "backends/llvm/evaluate.h"

namespace strew {
using llvm::Value;

bool CarriedElement::pays(const Frame& f) {
  constexpr int64_t kWidest = 8;
  const Plan& plan = f.plan;
  if (plan.gather || plan.pairs != 1 || !plan.window.empty() || !plan.sorted.holds || plan.pure_move) return false;
  const int result = plan.result(0);
  if (f.packed(result) || f.element_bytes(result) > kWidest) return false;
  const auto& nodes = plan.combine.nodes;
  return std::any_of(nodes.begin(), nodes.end(), [](const ExprNode& node) { return node.op == ExprOp::current; });
}

CarriedElement::CarriedElement(Frame& frame) : f_(frame) {
  llvm::BasicBlock& entry = f_.e.function.getEntryBlock();
  llvm::IRBuilder<> at_entry(&entry, entry.getFirstInsertionPt());
  llvm::Type* type = f_.numeric.storage_type(f_.plan.tensors[static_cast<size_t>(f_.plan.result(0))].dtype, 1);
  last_ = at_entry.CreateAlloca(at_entry.getPtrTy());
  value_ = at_entry.CreateAlloca(type);
  current_ = at_entry.CreateAlloca(type);
  at_entry.CreateStore(llvm::ConstantPointerNull::get(at_entry.getPtrTy()), last_);
  at_entry.CreateStore(llvm::Constant::getNullValue(type), value_);
}

void CarriedElement::apply(const Pointers& p) {
  auto& b = f_.e.b;
  const int result = f_.plan.result(0);
  Value* at = p[static_cast<size_t>(result)];
  f_.e.when_likely(
      b.CreateICmpEQ(at, b.CreateLoad(b.getPtrTy(), last_)),
      [&] { b.CreateStore(b.CreateLoad(value_->getAllocatedType(), value_), current_); },
      [&] { b.CreateStore(f_.load_element(result, at, 1), current_); });
  Body body = range_body(f_.plan, false);
  body.carried = b.CreateLoad(current_->getAllocatedType(), current_);
  const std::vector<Value*> stored = evaluate(f_, body, p, 1, std::vector<bool>(p.size(), false));
  b.CreateStore(stored[0], value_);
  b.CreateStore(at, last_);
}

}  // namespace strew
