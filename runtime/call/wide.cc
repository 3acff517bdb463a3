// See wide.h. A call takes one of two ways. Sparse widening (runtime/call/wide_sparse) keeps accumulators only for the parts of the result
// that updates reach. It is taken where the descriptor allows it, if updates are few compared with the result's elements, or if
// accumulators for the whole result would exceed the schedule's scratch_mib. Otherwise the scratch holds an accumulator for each whole
// result, and a copy of the operand in the result's dtype where operands have another one; that is fastest for many updates of a small
// table. The kernel keeps its scratch for the next call (runtime/call/scratch). Tested by tests/unit/compiler/rewrite/split_wide_test.cc,
// tests/unit/runtime/call/wide_sparse_test.cc and tests/differential.
#include "runtime/call/wide.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/machine.h"
#include "runtime/call/descriptor.h"
#include "runtime/call/executor/chunks.h"
#include "runtime/call/executor/phases.h"
#include "runtime/call/extent.h"
#include "runtime/call/wide_sparse.h"

namespace strew::inline v0 {
namespace {

/// The scratch of one tensor: its elements, rounded up to whole cache lines, and one line more, so that a prefetch of adjacent lines never
/// reaches the next tensor.
int64_t share(int64_t bits, int64_t elements) {
  return ((elements * bits + 7) / 8 + kLineBytes - 1) / kLineBytes * kLineBytes + kLineBytes;
}

/// Bits of an element of an accumulator.
int64_t wide_bits(const strew_kernel& kernel) { return bits(static_cast<DType>(kernel.wide_dtype)); }

/// The tensors that each stage is bound to, for a kernel with one result whose accumulator lies at `sums`.
struct StageTensors {
  std::vector<TensorView> fold, narrow;

  StageTensors(const strew_kernel& kernel, std::span<const TensorView> tensors, char* sums) {
    const TensorView accumulator{sums, static_cast<DType>(kernel.wide_dtype), tensors[0].rank, tensors[0].dims, nullptr};
    fold = {accumulator};
    if (kernel.init_kind == STREW_IN_PLACE) fold.push_back(tensors[0]);
    fold.insert(fold.end(), tensors.begin() + 1, tensors.end());

    static constexpr int64_t kNone = 0;
    narrow.assign(tensors.begin(), tensors.begin() + (kernel.init_kind == STREW_COPY ? 2 : 1));
    narrow.push_back({nullptr, DType::i32, 1, &kNone, nullptr});
    narrow.push_back(accumulator);
  }
};

/// Is sparse widening faster? It is if there are fewer updates than two per element of the result, or if accumulators for the whole result
/// would exceed the schedule's scratch_mib.
bool prefers_sparse(const Callable& callable, const Call& fold) {
  const strew_kernel& kernel = callable.parts[STREW_FOLD]->kernel;
  int64_t updates = 0;
  if (__builtin_mul_overflow(fold.positions, evaluate(kernel, kernel.window, fold.dyn), &updates)) return false;
  const int64_t bytes = fold.init * result_bytes(kernel);
  return updates / 2 < fold.init || bytes > int64_t{callable.kernel.scratch_mib} << 20;
}

/// Runs the call by sparse widening. Returns false, having done nothing, if that is not for this call.
Expected<bool> try_sparse(const Callable& callable, std::span<const TensorView> tensors, const CallOptions& options) {
  // The stages are bound to an accumulator at an address where no buffer can be. run_wide_sparse replaces it by the accumulator of each
  // granule.
  const StageTensors stages(callable.kernel, tensors, reinterpret_cast<char*>(uintptr_t{1} << 62));
  const Callable &fold = *callable.parts[STREW_FOLD], &narrow = *callable.parts[STREW_NARROW];
  Call fold_call, narrow_call;
  STREW_TRY(fold.binder.bind(stages.fold, fold_call));
  fold.use(fold_call, options);
  if (!prefers_sparse(callable, fold_call) || !keys_fit(fold.kernel, fold_call.dyn)) return false;
  STREW_TRY(check_indices(fold, stages.fold, fold_call, options.bad_index));
  STREW_TRY(narrow.binder.bind(stages.narrow, narrow_call));
  narrow.use(narrow_call, options);
  make_result(narrow, narrow_call);
  const int64_t positions = fold_call.positions;
  if (fold_call.moves_nothing() || fold_call.init == 0) return true;

  const strew_args fold_args = arguments_of(fold_call, fold.program), narrow_args = arguments_of(narrow_call, narrow.program);
  const int64_t unit = key_elements(fold.kernel, fold_call.dyn);
  constexpr int64_t kBytesPerUpdate = 16;  // reading, widening, accumulating and narrowing
  const Nanoseconds alone =
      whole_ns(fold.costs.of_windows(positions, estimated(Bytes(unit * kBytesPerUpdate)), fold.table_bytes));
  const int threads = threads_for(alone, fold_call.threads, *callable.limits);
  Team team(*fold_call.executor, threads, alone);
  return run_wide_sparse(team, callable.scratch,
                         {fold.kernel, narrow.kernel, &fold_args, &narrow_args, positions, fold_call.init,
                          Bytes(int64_t{callable.kernel.scratch_mib} << 20), team.threads(), *callable.limits});
}

}  // namespace

int64_t wide_scratch_bytes(const strew_kernel& kernel, int64_t elements) {
  int64_t bytes = 0;
  for (uint32_t i = 0; i < kernel.result_count; ++i) {
    bytes += share(wide_bits(kernel), elements);
    if (kernel.part_count > STREW_START) bytes += share(kernel.tensors[i].bits, elements);
  }
  return bytes;
}

Status run_wide(const Callable& callable, std::span<const TensorView> tensors, const CallOptions& options) {
  const strew_kernel& kernel = callable.kernel;
  if (kernel.widens_touched != 0) {
    STREW_ASSIGN(const bool done, try_sparse(callable, tensors, options));
    if (done) return {};
  }
  const size_t n = kernel.result_count;
  const size_t bound_operands = kernel.init_kind == STREW_COPY ? n : 0;
  const int64_t count = elements(tensors[0]), bytes = wide_scratch_bytes(kernel, count);
  const Scratch::Loan scratch = callable.scratch.borrow(bytes);
  if (!scratch)
    return resource_exhausted("accumulate wide: no memory for " + std::to_string(bytes) +
                              " bytes of scratch; use accumulate native");

  static constexpr int64_t kNone = 0;
  const TensorView nowhere{nullptr, DType::i32, 1, &kNone, nullptr};
  const auto results = tensors.first(n), rest = tensors.subspan(n), operands = rest.first(bound_operands);
  char* at = scratch.data();
  const auto take = [&](DType dtype, int64_t bits, const TensorView& like) {
    const TensorView view{at, dtype, like.rank, like.dims, nullptr};
    at += share(bits, count);
    return view;
  };
  const auto append = [](std::vector<TensorView>& list, std::span<const TensorView> more) {
    list.insert(list.end(), more.begin(), more.end());
  };
  std::vector<TensorView> sums, starts, fold, narrow(results.begin(), results.end());
  const auto wide = static_cast<DType>(kernel.wide_dtype);
  for (const TensorView& result : results) sums.push_back(take(wide, wide_bits(kernel), result));
  fold = sums;
  if (kernel.part_count > STREW_START) {
    for (size_t i = 0; i < n; ++i) starts.push_back(take(results[i].dtype, kernel.tensors[i].bits, results[i]));
    append(fold, starts);
    append(fold, rest.subspan(bound_operands));
    starts.push_back(nowhere);
    append(starts, operands);
    note_phase(*callable.limits, PhaseKind::wide_start, 0);
    STREW_TRY(callable.parts[STREW_START]->run(starts, CallOptions{options.threads, options.executor}));
  } else {
    if (kernel.init_kind == STREW_IN_PLACE) append(fold, results);
    append(fold, rest);
  }
  append(narrow, operands);
  narrow.push_back(nowhere);
  append(narrow, sums);

  note_phase(*callable.limits, PhaseKind::wide_fold, 0);
  STREW_TRY(callable.parts[STREW_FOLD]->run(fold, options));
  note_phase(*callable.limits, PhaseKind::wide_narrow, 0);
  return callable.parts[STREW_NARROW]->run(narrow, CallOptions{options.threads, options.executor});
}

}  // namespace strew::inline v0
