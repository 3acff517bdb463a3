// See wide.h. A call takes one of three ways. Where rows can be summed in registers and destinations are sorted, there are no accumulators in memory
// (runtime/call/wide_sums). Sparse widening (runtime/call/wide_sparse) keeps accumulators only for the parts of the result
// that updates reach. It is taken where the descriptor allows it, if updates are few compared with the result's elements, or if
// accumulators for the whole result would exceed the schedule's scratch_mib. Otherwise the scratch holds an accumulator for each whole
// result, and a copy of the operand in the result's dtype where operands have another one; that is fastest for many updates of a small
// table. The kernel keeps its scratch for the next call (runtime/call/scratch). Tested by tests/unit/compiler/rewrite/split_wide_test.cc,
// tests/unit/runtime/call/wide_sparse_test.cc and tests/differential.
#include "runtime/call/wide.h"

#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/machine.h"
#include "runtime/call/descriptor.h"
#include "runtime/call/executor/phases.h"
#include "runtime/call/extent.h"

namespace strew::inline v0 {
namespace {

bool has_part(const Callable& callable, uint32_t part) { return part < callable.parts.size() && callable.parts[part] != nullptr; }

/// The call's number of the index tensor that has number `tensor` in the fold, which checks it and binds other tensors.
int32_t tensor_of_call(const Callable& callable, int32_t tensor) {
  const strew_kernel &kernel = callable.kernel, &fold = callable.parts[STREW_FOLD]->kernel;
  uint32_t same = 0;
  while (std::strcmp(kernel.tensors[same].name, fold.tensors[tensor].name) != 0) ++same;
  return static_cast<int32_t>(same);
}

int64_t share(int64_t bits, int64_t elements) { return padded_bytes((elements * bits + 7) / 8); }

/// Bits of an element of an accumulator.
int64_t wide_bits(const strew_kernel& kernel) { return bits(static_cast<DType>(kernel.wide_dtype)); }
TensorView accumulator(const strew_kernel& kernel, const TensorView& result, char* at) {
  return {at, static_cast<DType>(kernel.wide_dtype), result.rank, result.dims, nullptr};
}

std::vector<TensorView> joined(std::initializer_list<std::span<const TensorView>> lists) {
  std::vector<TensorView> all;
  for (const auto list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

/// The tensors that each stage is bound to. `sums`: the accumulators; `starts`: copies of the operands in the dtypes of the results, if the
/// kernel has a stage that makes them.
struct StageTensors {
  std::vector<TensorView> start, fold, narrow;

  StageTensors(const strew_kernel& kernel, std::span<const TensorView> tensors, std::span<const TensorView> sums,
               std::span<const TensorView> starts) {
    const size_t n = kernel.result_count;
    const auto results = tensors.first(n), rest = tensors.subspan(n),
               operands = rest.first(kernel.init_kind == STREW_COPY ? n : 0);
    static constexpr int64_t kNone = 0;
    const TensorView nowhere[] = {{nullptr, DType::i32, 1, &kNone, nullptr}};  // indices of no position
    start = joined({starts, nowhere, operands});
    fold = joined({sums, starts, results.first(kernel.init_kind == STREW_IN_PLACE ? n : 0),
                   rest.subspan(starts.empty() ? 0 : operands.size())});
    narrow = joined({results, operands, nowhere, sums});
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
  const TensorView sum = accumulator(callable.kernel, tensors[0], reinterpret_cast<char*>(uintptr_t{1} << 62));
  const StageTensors stages(callable.kernel, tensors, {&sum, 1}, {});
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

  const int64_t unit = key_elements(fold.kernel, fold_call.dyn);
  constexpr int64_t kBytesPerUpdate = 16;  // reading, widening, accumulating and narrowing
  const Nanoseconds alone =
      whole_ns(fold.costs.of_windows(positions, estimated(Bytes(unit * kBytesPerUpdate)), fold.table_bytes));
  const int threads = threads_for(alone, fold_call.threads, *callable.limits);
  Team team(*fold_call.executor, threads, alone);
  return run_wide_sparse(callable, team,
                         {fold, narrow, arguments_of(fold_call, fold.program), arguments_of(narrow_call, narrow.program),
                          positions, fold_call.init});
}

}  // namespace

int64_t wide_scratch_bytes(const strew_kernel& kernel, int64_t elements) {
  int64_t bytes = 0;
  for (uint32_t i = 0; i < kernel.result_count; ++i) {
    bytes += share(wide_bits(kernel), elements);
    if (kernel.parts[STREW_START] != nullptr) bytes += share(kernel.tensors[i].bits, elements);
  }
  return bytes;
}

namespace {

/// Runs the stages, by one of the ways that keep accumulators in memory.
Status run_stages(const Callable& callable, std::span<const TensorView> tensors, const CallOptions& options) {
  const strew_kernel& kernel = callable.kernel;
  if (kernel.widens_touched != 0) {
    STREW_ASSIGN(const bool done, try_sparse(callable, tensors, options));
    if (done) return {};
  }
  const int64_t count = elements(tensors[0]), bytes = wide_scratch_bytes(kernel, count);
  const Scratch::Loan scratch = callable.scratch.borrow(bytes);
  if (!scratch)
    return resource_exhausted("accumulate wide: no memory for " + std::to_string(bytes) +
                              " bytes of scratch; use accumulate native");
  const bool has_start = has_part(callable, STREW_START);
  std::vector<TensorView> sums, starts;
  char* at = scratch.data();
  for (const TensorView& result : tensors.first(kernel.result_count)) {
    sums.push_back(accumulator(kernel, result, at));
    at += share(wide_bits(kernel), count);
  }
  for (uint32_t i = 0; has_start && i < kernel.result_count; ++i) {
    starts.push_back({at, tensors[i].dtype, tensors[i].rank, tensors[i].dims, nullptr});
    at += share(kernel.tensors[i].bits, count);
  }
  const StageTensors stages(kernel, tensors, sums, starts);
  if (has_start) {
    note_phase(*callable.limits, PhaseKind::wide_start, 0);
    STREW_TRY(callable.parts[STREW_START]->run(stages.start, CallOptions{options.threads, options.executor}));
  }
  note_phase(*callable.limits, PhaseKind::wide_fold, 0);
  STREW_TRY(callable.parts[STREW_FOLD]->run(stages.fold, options));
  note_phase(*callable.limits, PhaseKind::wide_narrow, 0);
  return callable.parts[STREW_NARROW]->run(stages.narrow, CallOptions{options.threads, options.executor});
}

}  // namespace

Status run_wide(const Callable& callable, std::span<const TensorView> tensors, const CallOptions& options) {
  if (has_part(callable, STREW_SUMS)) {
    STREW_ASSIGN(const bool done, try_sums(callable, tensors, options));
    if (done) return {};
  }
  Status status = run_stages(callable, tensors, options);
  if (options.bad_index != nullptr && status.code() == Code::out_of_bounds)
    options.bad_index->source = tensor_of_call(callable, options.bad_index->source);
  return status;
}

}  // namespace strew::inline v0
