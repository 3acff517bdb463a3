// See row_folds.h. An element is loaded once, kept in its storage form, and stored once, so all bits are those that plain loads and stores would give.
#include "backends/llvm/entries/row_folds.h"

#include <llvm/IR/Instructions.h>

#include <vector>

#include "backends/llvm/compute/body.h"

namespace strew::inline v0 {
namespace {
using llvm::Value;

/// A sum of floats waits about four cycles for the one before it, and a core adds two in each.
constexpr int kTogether = 8;

class RowFolds {
 public:
  explicit RowFolds(Frame& frame) : f_(frame), e_(frame.e), loops_(frame.plan.positions), inner_(loops_.back()) {
    one_.extent = constant(1);
    one_.strides.assign(f_.bases().size(), constant(1));
    const DType dtype = f_.plan.tensors[static_cast<size_t>(f_.plan.result(0))].dtype;
    for (int k = 0; k < kTogether; ++k) sums_.push_back(e_.slot(f_.numeric.storage_type(dtype, 1)));
  }

  /// A range may begin and end within a row; the rows between are done in groups.
  void emit() {
    Value *const begin = f_.begin(), *const end = f_.end();
    Value* const length = e_.smax(f_.term(inner_.extent), e_.i64(1));
    Value* const first = e_.b.CreateUDiv(e_.add(begin, e_.b.CreateSub(length, e_.i64(1))), length);
    Value* const last = e_.smax(e_.b.CreateUDiv(end, length), first);
    Value* const head = e_.smin(e_.times(first, length), end);
    part(begin, head);
    e_.loop_in_groups(
        first, last, kTogether, [&](Value* row) { fold(row, kTogether, length); }, [&](Value* row) { fold(row, 1, length); });
    part(e_.smax(e_.times(last, length), head), end);
  }

 private:
  void part(Value* begin, Value* end) {
    f_.for_rows(loops_, begin, end, [&](const Pointers& row, Value*, Value* lo, Value* hi) {
      e_.when(e_.b.CreateICmpSLT(lo, hi), [&] { fold({row}, lo, hi); });
    });
  }
  void fold(Value* row, int count, Value* length) {
    std::vector<Pointers> rows;
    for (int k = 0; k < count; ++k) rows.push_back(f_.at_row(loops_, e_.add(row, e_.i64(k))));
    fold(rows, e_.i64(0), length);
  }

  void fold(const std::vector<Pointers>& rows, Value* lo, Value* hi) {
    auto& b = e_.b;
    const int result = f_.plan.result(0);
    for (size_t k = 0; k < rows.size(); ++k)
      b.CreateStore(f_.load_element(result, rows[k][static_cast<size_t>(result)], 1), sums_[k]);
    e_.loop(lo, hi, {1, 1}, [&](Value* i) {
      for (size_t k = 0; k < rows.size(); ++k) {
        Value* const sum = b.CreateLoad(sums_[k]->getAllocatedType(), sums_[k]);
        b.CreateStore(emit_row_part(f_, f_.kernel.update, f_.step(rows[k], inner_.strides, i), one_, {0, 1}, sum), sums_[k]);
      }
    });
    for (size_t k = 0; k < rows.size(); ++k)
      f_.store_element(result, rows[k][static_cast<size_t>(result)], b.CreateLoad(sums_[k]->getAllocatedType(), sums_[k]));
  }

  Frame& f_;
  Emitter& e_;
  const std::vector<Loop>& loops_;
  const Loop& inner_;
  Loop one_;  ///< over a single element
  std::vector<llvm::AllocaInst*> sums_;
};

}  // namespace

void emit_row_folds(Frame& frame) { RowFolds(frame).emit(); }

}  // namespace strew::inline v0
