// See wide.h. Scratch is as large as the results in the wide dtype; a kernel keeps what its calls have allocated and lends it to the next
// ones. Tested by tests/unit/split_wide_test.cc and tests/differential.
#include "runtime/wide.h"

#include <new>
#include <vector>

#include "runtime/executor/phases.h"

namespace strew {
namespace {

constexpr std::align_val_t kAlign{64};

DType wide_dtype(const Scatter& op) { return op.accumulate == Accumulate::wide_f64 ? DType::f64 : DType::f32; }

/// One result's share: whole lines, and one more so that neighbours never share a prefetched pair.
size_t share(const Scatter& op, int64_t elements) {
  return (static_cast<size_t>(storage_bytes(wide_dtype(op), elements)) + 63) / 64 * 64 + 64;
}

int64_t elements(const TensorView& view) {
  int64_t count = 1;
  for (int d = 0; d < view.rank; ++d) count *= view.dims[d];
  return count;
}

}  // namespace

WideScratch::~WideScratch() {
  for (const Block& block : blocks_) ::operator delete(block.data, kAlign);
}

WideScratch::Block WideScratch::take(size_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < blocks_.size(); ++i) {
      if (blocks_[i].bytes < bytes) continue;
      const Block found = blocks_[i];
      blocks_.erase(blocks_.begin() + static_cast<ptrdiff_t>(i));
      return found;
    }
  }
  return {::operator new(bytes, kAlign, std::nothrow), bytes};
}

void WideScratch::give(Block block) {
  const std::lock_guard lock(mutex_);
  blocks_.push_back(block);
}

int64_t wide_scratch_bytes(const Scatter& op, int64_t elements) {
  return static_cast<int64_t>(share(op, elements) * op.results.size());
}

Status run_wide(const Kernel::State& state, std::span<const TensorView> tensors, strew_fault* fault) {
  const auto& op = std::get<Scatter>(state.compiled.op);
  const size_t n = op.results.size();
  const size_t bound_operands = op.init == InitKind::copy ? n : 0;
  const DType wide = wide_dtype(op);
  const size_t each = share(op, elements(tensors[0]));
  const WideScratch::Block scratch = state.scratch.take(each * n);
  if (scratch.data == nullptr)
    return unsupported("accumulate wide: no memory for " + std::to_string(each * n) + " bytes of scratch; use accumulate native");

  std::vector<TensorView> sums, fold, narrow;
  for (size_t i = 0; i < n; ++i)
    sums.push_back({static_cast<char*>(scratch.data) + i * each, wide, tensors[i].rank, tensors[i].dims, nullptr});
  fold = sums;
  if (op.init == InitKind::in_place) fold.insert(fold.end(), tensors.begin(), tensors.begin() + static_cast<ptrdiff_t>(n));
  fold.insert(fold.end(), tensors.begin() + static_cast<ptrdiff_t>(n), tensors.end());

  static constexpr int64_t kNone = 0;
  narrow.assign(tensors.begin(), tensors.begin() + static_cast<ptrdiff_t>(n + bound_operands));
  narrow.push_back({nullptr, DType::i32, 1, &kNone, nullptr});
  narrow.insert(narrow.end(), sums.begin(), sums.end());

  Status status = state.parts[0].run(fold, fault);
  if (status.ok()) status = state.parts[1].run(narrow, nullptr);
  state.scratch.give(scratch);
  return status;
}

}  // namespace strew
