// See wide.h. Two ways: accumulators for what updates touch (runtime/call/wide_touched), where that is legal and updates are few against the
// result or accumulators for all of it would exceed the schedule's scratch_mib; else scratch as large as the results in the wide dtype, and
// once more in their own where operands have another, which is the fastest for many updates of a small table. The kernel keeps its scratch
// for the next call (runtime/call/scratch). Tested by tests/unit/split_wide_test.cc, wide_touched_test.cc and tests/differential.
#include "runtime/call/wide.h"

#include <vector>

#include "runtime/call/executor/phases.h"
#include "runtime/call/executor/trace.h"
#include "runtime/call/strategies/owners.h"
#include "runtime/call/wide_touched.h"

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

/// What the halves are bound to where there is one pair, with its accumulator at `sums`.
struct Halves {
  std::vector<TensorView> fold, narrow;

  Halves(const Scatter& op, std::span<const TensorView> tensors, char* sums) {
    const ptrdiff_t n = 1;
    const TensorView accumulator{sums, wide_dtype(op), tensors[0].rank, tensors[0].dims, nullptr};
    fold = {accumulator};
    if (op.init == InitKind::in_place) fold.insert(fold.end(), tensors.begin(), tensors.begin() + n);
    fold.insert(fold.end(), tensors.begin() + n, tensors.end());

    static constexpr int64_t kNone = 0;
    narrow.assign(tensors.begin(), tensors.begin() + (op.init == InitKind::copy ? 2 * n : n));
    narrow.push_back({nullptr, DType::i32, 1, &kNone, nullptr});
    narrow.push_back(accumulator);
  }
};

/// Are there fewer updates than twice the result's elements, or more accumulators than the schedule allows?
bool prefers_touched(const Kernel::State& state, const CallShape& fold) {
  const Plan& plan = state.parts[kFold]->compiled.plan;
  int64_t updates = fold.positions;
  for (const Loop& loop : plan.window)
    if (__builtin_mul_overflow(updates, evaluate(loop.extent, fold.dyn.data()), &updates)) return false;
  const int64_t bytes = fold.init * (bits(plan.tensors[0].dtype) / 8);
  return updates / 2 < fold.init || bytes > int64_t{state.compiled.schedule.scratch_mib} << 20;
}

/// False: not for this call, nothing was done.
Expected<bool> try_touched(const Kernel::State& state, std::span<const TensorView> tensors, strew_fault* fault) {
  // The halves are bound to accumulators where no buffer can be; run_touched puts each granule's own in their place.
  const Halves halves(std::get<Scatter>(*state.compiled.op), tensors, reinterpret_cast<char*>(uintptr_t{1} << 62));
  const Kernel::State &fold = *state.parts[kFold], &narrow = *state.parts[kNarrow];
  Call fold_call, narrow_call;
  STREW_TRY(fold.binder->bind(halves.fold, fold_call));
  const CallShape& shape = *fold_call.shape;
  if (!prefers_touched(state, shape) || !owners_fit(fold.compiled.plan, shape.dyn.data())) return false;
  STREW_TRY(check_indices(fold, halves.fold, fold_call, fault));
  STREW_TRY(narrow.binder->bind(halves.narrow, narrow_call));
  make_result(narrow, narrow_call);
  if (shape.positions == 0 || shape.init == 0) return true;

  const strew_args fold_args = arguments_of(fold_call), narrow_args = arguments_of(narrow_call);
  const int64_t unit = key_unit(fold.compiled.plan);
  constexpr int64_t kBytesPerUpdate = 16;  // read, widened, accumulated, narrowed
  const int64_t nanoseconds = estimate(shape.positions, std::min(shape.positions, int64_t{1} << 40) * unit * kBytesPerUpdate);
  const int threads = threads_for(nanoseconds, fold.compiled.schedule.threads, *state.limits);
  Executor::Team team(*state.executor, threads, nanoseconds);
  return run_touched(team, state.scratch,
                     {fold, narrow, &fold_args, &narrow_args, shape.positions, shape.init,
                      int64_t{state.compiled.schedule.scratch_mib} << 20, team.threads(), *state.limits});
}

}  // namespace

int64_t wide_scratch_bytes(const Scatter& op, int64_t elements) {
  size_t bytes = share(wide_dtype(op), elements) * op.results.size();
  if (has_start(op))
    for (const TensorType& result : op.results) bytes += share(result.dtype, elements);
  return static_cast<int64_t>(bytes);
}

Status run_wide(const Kernel::State& state, std::span<const TensorView> tensors, strew_fault* fault) {
  if (state.widens_touched) {
    STREW_ASSIGN(const bool done, try_touched(state, tensors, fault));
    if (done) return {};
  }
  const auto& op = std::get<Scatter>(*state.compiled.op);
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
    note_phase(*state.limits, PhaseKind::wide_start, 0);
    STREW_TRY(Kernel(state.parts[kStart]).run(starts, nullptr));
  } else {
    if (op.init == InitKind::in_place) append(fold, results);
    append(fold, rest);
  }
  append(narrow, operands);
  narrow.push_back(nowhere);
  append(narrow, sums);

  note_phase(*state.limits, PhaseKind::wide_fold, 0);
  STREW_TRY(Kernel(state.parts[kFold]).run(fold, fault));
  note_phase(*state.limits, PhaseKind::wide_narrow, 0);
  return Kernel(state.parts[kNarrow]).run(narrow, nullptr);
}

}  // namespace strew
