// See row_run.h. The registers hold elements in their storage form, and every update is rounded as if it were stored, so all bits are those that plain
// loads and stores would give. A row is stored when a position has another destination, so indices that are not sorted cost time only. Tested by
// tests/differential (every dtype with sorted indices) and tests/golden/machine_code_test.cc.
#include "backends/llvm/compute/row_run.h"

namespace strew::inline v0 {
using llvm::Value;
using lowered::RowPart;

RowRun::RowRun(Frame& frame) : f_(frame), loop_(frame.plan.window.back()), row_(frame.e.slot(frame.e.b.getPtrTy())) {
  const DType dtype = f_.plan.tensors[static_cast<size_t>(f_.plan.result(0))].dtype;
  const int lanes = lowered::lanes_of(f_.plan, f_.kernel.update, f_.schedule.vector_bytes);
  for (const RowPart& part : lowered::row_parts(loop_.extent.factor / f_.entry.walk.panels, lanes))
    registers_.push_back({part, f_.e.slot(f_.numeric.storage_type(dtype, part.lanes))});
  f_.e.b.CreateStore(llvm::ConstantPointerNull::get(f_.e.b.getPtrTy()), row_);  // a panel begins with no row
}

void RowRun::apply(const lowered::Body& body, const Pointers& p) {
  auto& b = f_.e.b;
  const int result = f_.plan.result(0);
  Value* const row = p[static_cast<size_t>(result)];
  Value* const before = b.CreateLoad(b.getPtrTy(), row_);
  f_.e.when_likely(
      b.CreateICmpEQ(row, before), [] {},
      [&] {
        store(before);
        for (const Register& one : registers_)
          b.CreateStore(f_.load_element(result, address(row, one), one.part.lanes), one.slot);
        b.CreateStore(row, row_);
      });
  for (const Register& one : registers_) {
    Value* const current = b.CreateLoad(one.slot->getAllocatedType(), one.slot);
    b.CreateStore(emit_row_part(f_, body, p, loop_, one.part, current), one.slot);
  }
}

void RowRun::finish() { store(f_.e.b.CreateLoad(f_.e.b.getPtrTy(), row_)); }

Value* RowRun::address(Value* row, const Register& one) {
  return f_.advance(f_.plan.result(0), row, f_.e.i64(one.part.first), constant(1));
}

/// Stores the registers at `row`, unless that is null.
void RowRun::store(Value* row) {
  auto& b = f_.e.b;
  f_.e.when_likely(
      b.CreateICmpNE(row, llvm::ConstantPointerNull::get(b.getPtrTy())),
      [&] {
        for (const Register& one : registers_)
          f_.store_element(f_.plan.result(0), address(row, one), b.CreateLoad(one.slot->getAllocatedType(), one.slot));
      },
      [] {});
}

}  // namespace strew::inline v0
