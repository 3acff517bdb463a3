// See row_run.h. The registers hold elements in their storage form, and every update is rounded as if it were stored, so all bits are those that plain
// loads and stores would give. A row is stored when a position has another destination, so indices that are not sorted cost time only. Wide sums are
// rounded when they are stored: calls whose destinations are not sorted take other kernels (runtime/call/wide_sums). Tested by
// tests/differential (every dtype with sorted indices) and tests/golden/machine_code_test.cc.
#include "backends/llvm/compute/row_run.h"

namespace strew::inline v0 {
using llvm::Value;
using lowered::RowPart;

RowRun::RowRun(Frame& frame) : f_(frame), loop_(frame.plan.window.back()), row_(frame.e.slot(frame.e.b.getPtrTy())) {
  const DType stored = f_.plan.tensors[static_cast<size_t>(f_.plan.result(0))].dtype;
  const DType dtype = f_.kernel.wide ? f_.kernel.wide->dtype : stored;
  const int lanes = lowered::lanes_of(f_.plan, f_.kernel.update, f_.schedule.vector_bytes);
  for (const RowPart& part : lowered::row_parts(loop_.extent.factor / f_.entry.walk.panels, lanes))
    registers_.push_back({part, f_.e.slot(f_.numeric.storage_type(dtype, part.lanes))});
  f_.e.b.CreateStore(llvm::ConstantPointerNull::get(f_.e.b.getPtrTy()), row_);  // a panel begins with no row
}

void RowRun::apply(const lowered::Body& body, const Pointers& p) {
  auto& b = f_.e.b;
  Value* const row = p[static_cast<size_t>(f_.plan.result(0))];
  Value* const before = b.CreateLoad(b.getPtrTy(), row_);
  f_.e.when_likely(
      b.CreateICmpEQ(row, before), [] {},
      [&] {
        store(before);
        for (const Register& one : registers_) b.CreateStore(load(row, one), one.slot);
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

/// What a register holds of `row` before its updates.
Value* RowRun::load(Value* row, const Register& one) {
  const std::optional<lowered::WideSum>& wide = f_.kernel.wide;
  Value* const stored = wide && !wide->start.in_memory() ? f_.numeric.literal_storage(wide->start.value, one.part.lanes)
                                                         : f_.load_element(f_.plan.result(0), address(row, one), one.part.lanes);
  return wide ? emit_graph(f_, *wide->widen, stored, one.part.lanes) : stored;
}

/// Stores the registers at `row`, unless that is null.
void RowRun::store(Value* row) {
  auto& b = f_.e.b;
  const std::optional<lowered::WideSum>& wide = f_.kernel.wide;
  f_.e.when_likely(
      b.CreateICmpNE(row, llvm::ConstantPointerNull::get(b.getPtrTy())),
      [&] {
        for (const Register& one : registers_) {
          Value* const sum = b.CreateLoad(one.slot->getAllocatedType(), one.slot);
          f_.store_element(f_.plan.result(0), address(row, one), wide ? emit_graph(f_, *wide->narrow, sum, one.part.lanes) : sum);
        }
      },
      [] {});
}

}  // namespace strew::inline v0
