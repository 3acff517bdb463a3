// See sink_slot.h. Cost (bench/policies): one select per position. A combiner that reads the sink waits for the previous store to it; so the
// positions of an iteration of the loop, which are emitted one by one (entries/range_entry.cc), have a sink each. Tested by tests/differential and tests/golden/machine_code_test.cc.
#include "backends/llvm/address/sink_slot.h"

namespace strew::inline v0 {
using llvm::Value;

namespace {

constexpr int64_t kWidest = 16;  // bytes of the widest element

/// An element on the call's stack for dropped stores. It is zero at first, and no result depends on it.
Value* sink_element(Frame& f) {
  llvm::AllocaInst* memory = f.e.slot(llvm::ArrayType::get(f.e.b.getInt8Ty(), kWidest));
  memory->setAlignment(llvm::Align(kWidest));
  return memory;
}

/// A copy of the gather's fill value, as a constant of the object. A stack slot would not do: LLVM knows what it holds, and would turn the load
/// from the selected address into a branch.
Value* fill_element(Frame& f) {
  auto* value = llvm::cast<llvm::Constant>(f.numeric.literal_storage(f.plan.primary().fill, 1));
  auto* global = new llvm::GlobalVariable(*f.e.function.getParent(), value->getType(), /*isConstant=*/true,
                                          llvm::GlobalValue::PrivateLinkage, value, "fill");
  global->setAlignment(llvm::Align(kWidest));
  return global;
}

}  // namespace

bool uses_sink_slot(const Frame& f) {
  if (!f.plan.window.empty()) return false;
  const OobPolicy oob = f.plan.primary().oob;
  const auto is_whole = [&](int tensor) { return !f.packed(tensor) && f.element_bytes(tensor) <= kWidest; };
  if (f.plan.gather)
    return is_fill(oob) && is_whole(f.plan.operand(0)) &&
           f.plan.tensors[static_cast<size_t>(f.plan.operand(0))].dtype != DType::string;
  if (oob != OobPolicy::skip_element && oob != OobPolicy::skip_window) return false;
  for (int i = 0; i < f.plan.pairs; ++i)
    if (!is_whole(f.plan.result(i))) return false;
  return true;
}

void redirect_to_sink(Frame& f, Value* inside, Pointers& p) {
  const auto redirect = [&](int tensor, Value* sink) {
    Value*& at = p[static_cast<size_t>(tensor)];
    at = f.e.b.CreateSelect(inside, at, sink);
  };
  if (f.plan.gather) return redirect(f.plan.operand(0), fill_element(f));
  for (int i = 0; i < f.plan.pairs; ++i) redirect(f.plan.result(i), sink_element(f));
}

}  // namespace strew::inline v0
