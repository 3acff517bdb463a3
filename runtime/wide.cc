// See wide.h. Scratch is as large as the results in the wide dtype, and once more in their own where operands have another; the
// kernel keeps it for the next call (runtime/scratch). Tested by tests/unit/split_wide_test.cc and tests/differential.
#include "runtime/wide.h"

#include <vector>

#include "runtime/executor/phases.h"

namespace strew {
namespace {

enum Part : size_t { kFold, kNarrow, kStart };  // of state.parts, as compile() puts them

DType wide_dtype(const Scatter& op) { return op.accumulate == Accumulate::wide_f64 ? DType::f64 : DType::f32; }

/// One tensor's share: whole lines, and one more so that neighbours never share a prefetched pair.
size_t share(DType dtype, int64_t elements) { return (static_cast<size_t>(storage_bytes(dtype, elements)) + 63) / 64 * 64 + 64; }

int64_t elements(const TensorView& view) {
  int64_t count = 1;
  for (int d = 0; d < view.rank; ++d) count *= view.dims[d];
  return count;
}

/// Whether the fold starts from converted operands (WideSplit::start).
bool has_start(const Scatter& op) {
  bool converts = false;
  for (size_t i = 0; i < op.results.size(); ++i) converts = converts || op.operands[i].dtype != op.results[i].dtype;
  return converts && op.init == InitKind::copy;
}

}  // namespace

int64_t wide_scratch_bytes(const Scatter& op, int64_t elements) {
  size_t bytes = share(wide_dtype(op), elements) * op.results.size();
  if (has_start(op))
    for (const TensorType& result : op.results) bytes += share(result.dtype, elements);
  return static_cast<int64_t>(bytes);
}

Status run_wide(const Kernel::State& state, std::span<const TensorView> tensors, strew_fault* fault) {
  const auto& op = std::get<Scatter>(state.compiled.op);
  const size_t n = op.results.size();
  const size_t bound_operands = op.init == InitKind::copy ? n : 0;
  const int64_t count = elements(tensors[0]), bytes = wide_scratch_bytes(op, count);
  const Scratch::Loan scratch = state.scratch.borrow(bytes);
  if (!scratch)
    return unsupported("accumulate wide: no memory for " + std::to_string(bytes) + " bytes of scratch; use accumulate native");

  static constexpr int64_t kNone = 0;
  const TensorView nowhere{nullptr, DType::i32, 1, &kNone, nullptr};
  const auto results = tensors.first(n), rest = tensors.subspan(n), operands = rest.first(bound_operands);
  char* at = scratch.data();
  const auto take = [&](DType dtype, const TensorView& like) {
    const TensorView view{at, dtype, like.rank, like.dims, nullptr};
    at += share(dtype, count);
    return view;
  };
  const auto append = [](std::vector<TensorView>& list, std::span<const TensorView> more) {
    list.insert(list.end(), more.begin(), more.end());
  };
  std::vector<TensorView> sums, starts, fold, narrow(results.begin(), results.end());
  for (const TensorView& result : results) sums.push_back(take(wide_dtype(op), result));
  fold = sums;
  if (state.parts.size() > kStart) {
    for (const TensorView& result : results) starts.push_back(take(result.dtype, result));
    append(fold, starts);
    append(fold, rest.subspan(bound_operands));
    starts.push_back(nowhere);
    append(starts, operands);
    STREW_TRY(state.parts[kStart].run(starts, nullptr));
  } else {
    if (op.init == InitKind::in_place) append(fold, results);
    append(fold, rest);
  }
  append(narrow, operands);
  narrow.push_back(nowhere);
  append(narrow, sums);

  Status status = state.parts[kFold].run(fold, fault);
  if (status.ok()) status = state.parts[kNarrow].run(narrow, nullptr);
  return status;
}

}  // namespace strew
