// See register_run.h. The register holds the element's storage form, and every result is still stored, so all bits are those that plain loads would
// give. Tested by tests/differential (every dtype with sorted indices) and tests/golden/machine_code_test.cc.
#include "backends/llvm/compute/register_run.h"

namespace strew::inline v0 {
using llvm::Value;

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
  Value* current = b.CreateLoad(current_->getAllocatedType(), current_);
  b.CreateStore(emit_element(f_, f_.kernel.update, p, current), value_);
  b.CreateStore(at, last_);
}

}  // namespace strew::inline v0
