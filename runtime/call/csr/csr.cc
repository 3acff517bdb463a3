// See strew/csr.h and csr.h: the checks of a call (vectors.h) and the choice of the way to sort.
#include "strew/csr.h"

#include <algorithm>
#include <limits>
#include <new>
#include <string>

#include "base/fault_text.h"
#include "base/fp_environment.h"
#include "runtime/call/csr/csr.h"
#include "runtime/call/csr/vectors.h"
#include "runtime/call/executor/phases.h"
#include "runtime/call/strategies/key_scan.h"

namespace strew::inline v0 {
namespace {

/// Of one thread, per position or segment: reading, counting and placing (Zen 4).
constexpr int64_t kNanosecondsEach = 4;

/// Can the dtype of a result hold the numbers up to `largest`?
Status check_holds(const NamedView& result, int64_t positions, int64_t largest) {
  if (result.view.dtype == DType::i64 || largest <= std::numeric_limits<int32_t>::max()) return {};
  return invalid_argument(result.name + ": dtype i32, expected i64: with " + std::to_string(positions) +
                          " indices it would have to hold " + std::to_string(largest));
}

Status check_call(NamedView& indices, NamedView& offsets, NamedView& permutation) {
  for (NamedView* const each : {&indices, &offsets, &permutation}) STREW_TRY(check_vector(*each));
  const int64_t positions = indices.dim();
  if (offsets.dim() == 0) return invalid_argument("offsets: dim 0 is 0, expected 1 or more: the number of segments and one");
  if (permutation.dim() != positions)
    return invalid_argument("permutation: dim 0 is " + std::to_string(permutation.dim()) + ", expected " +
                            std::to_string(positions) + ", dim 0 of indices");
  STREW_TRY(check_holds(offsets, positions, positions));
  STREW_TRY(check_holds(permutation, positions, positions - 1));
  for (const NamedView* const each : {&indices, &offsets, &permutation}) STREW_TRY(check_address(*each));
  STREW_TRY(check_apart(offsets, indices));
  STREW_TRY(check_apart(permutation, indices));
  return check_apart(permutation, offsets);
}

Status bad_index_error(const CsrJob& job, int64_t position, bool is_u64, BadIndex* bad_index) {
  const strew_fault fault{position, 0, value_at(job.indices, position), job.segments - 1, 0};
  if (bad_index != nullptr) *bad_index = bad_index_of(fault, 0);
  const int64_t dims[] = {job.positions};
  return fault_status({"index", false, is_u64}, fault, dims, job.segments);
}

/// Is it to be sorted by buckets? Counting is faster while the counters stay in the second-level cache: on Zen 4 with 1 MiB it took 0.8 of the time for
/// 170,000 segments and 1.2 M positions, as long for 4 M positions, and 1.4 times as long for 600,000 segments.
bool prefers_buckets(const CsrJob& job, const ExecutionLimits& limits) {
  if (job.positions > std::numeric_limits<int32_t>::max() || job.segments > int64_t{kDroppedKey}) return false;
  constexpr int64_t kCounterBytes = sizeof(uint32_t);
  return job.segments > (limits.csr_counted != 0 ? limits.csr_counted : limits.costs.cache_bytes[1] / kCounterBytes);
}

Status run(const CsrJob& job, bool is_u64, const CallOptions& options, const ExecutionLimits& limits) {
  const FpEnvironment environment(true, true);  // costs are floats
  Executor& executor = options.executor != nullptr ? *options.executor : *process_executor();
  const int most = options.threads != 0 ? options.threads : std::max(1, executor.threads());
  const double each = static_cast<double>(kNanosecondsEach);
  const Nanoseconds alone = whole_ns(each * (static_cast<double>(job.positions) + static_cast<double>(job.segments)));
  Team team(executor, threads_for(alone, most, limits), alone);
  STREW_ASSIGN(const int64_t bad,
               prefers_buckets(job, limits) ? csr_by_buckets(job, team, limits) : csr_by_counting(job, team, limits));
  return bad < job.positions ? bad_index_error(job, bad, is_u64, options.bad_index) : Status();
}

}  // namespace

Status csr(const TensorView& indices, const TensorView& offsets, const TensorView& permutation, const CallOptions& options,
           const ExecutionLimits& limits) {
  try {
    STREW_TRY(check_threads(options.threads));
    NamedView of_indices{"indices", indices, false}, of_offsets{"offsets", offsets, true},
        of_permutation{"permutation", permutation, true};
    STREW_TRY(check_call(of_indices, of_offsets, of_permutation));
    const CsrJob job{integers_of(of_indices), integers_of(of_offsets), integers_of(of_permutation), of_indices.dim(),
                     of_offsets.dim() - 1};
    return run(job, indices.dtype == DType::u64, options, limits);
  } catch (const std::bad_alloc&) {
    return resource_exhausted("csr: out of memory; nothing was written");
  }
}

Status csr(const TensorView& indices, const TensorView& offsets, const TensorView& permutation, const CallOptions& options) {
  return csr(indices, offsets, permutation, options, *default_limits());
}

}  // namespace strew::inline v0
