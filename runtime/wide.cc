// See wide.h. Scratch is as large as the results in the wide dtype; the kernel keeps it for the next
// call (runtime/scratch). Tested by tests/unit/split_wide_test.cc and tests/differential.
#include "runtime/wide.h"

#include <vector>

#include "runtime/executor/phases.h"

namespace strew {
namespace {

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

int64_t wide_scratch_bytes(const Scatter& op, int64_t elements) {
  return static_cast<int64_t>(share(op, elements) * op.results.size());
}

Status run_wide(const Kernel::State& state, std::span<const TensorView> tensors, strew_fault* fault) {
  const auto& op = std::get<Scatter>(state.compiled.op);
  const size_t n = op.results.size();
  const size_t bound_operands = op.init == InitKind::copy ? n : 0;
  const DType wide = wide_dtype(op);
  const size_t each = share(op, elements(tensors[0]));
  const Scratch::Loan scratch = state.scratch.borrow(static_cast<int64_t>(each * n));
  if (!scratch)
    return unsupported("accumulate wide: no memory for " + std::to_string(each * n) + " bytes of scratch; use accumulate native");

  std::vector<TensorView> sums, fold, narrow;
  for (size_t i = 0; i < n; ++i) sums.push_back({scratch.data() + i * each, wide, tensors[i].rank, tensors[i].dims, nullptr});
  fold = sums;
  if (op.init == InitKind::in_place) fold.insert(fold.end(), tensors.begin(), tensors.begin() + static_cast<ptrdiff_t>(n));
  fold.insert(fold.end(), tensors.begin() + static_cast<ptrdiff_t>(n), tensors.end());

  static constexpr int64_t kNone = 0;
  narrow.assign(tensors.begin(), tensors.begin() + static_cast<ptrdiff_t>(n + bound_operands));
  narrow.push_back({nullptr, DType::i32, 1, &kNone, nullptr});
  narrow.insert(narrow.end(), sums.begin(), sums.end());

  Status status = state.parts[0].run(fold, fault);
  if (status.ok()) status = state.parts[1].run(narrow, nullptr);
  return status;
}

}  // namespace strew
