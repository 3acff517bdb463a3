// See phases.h. Each phase starts when the one before has ended, and has no barrier inside. Check visits all positions, and the first bad
// one by position is reported. Init is skipped if the result's buffer is the operand's. The strategy applies the updates. Tested by
// tests/unit/runtime/call/executor/executor_test.cc and tests/unit/backends/kernel_test.cc.
#include "runtime/call/executor/phases.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/fault_text.h"
#include "base/fp_environment.h"
#include "base/log.h"
#include "runtime/call/strategies/strategy.h"
#include "runtime/call/wide.h"

namespace strew::inline v0 {
namespace {

/// Logs that a result's buffer is not its operand's, so the operand was copied.
void log_copy(const strew_kernel& kernel, int64_t elements) {
  int64_t bytes = 0;
  for (uint32_t i = 0; i < kernel.result_count; ++i) bytes += (elements * kernel.tensors[i].bits + 7) / 8;
  log(LogLevel::dispatch,
      std::string(kernel.name) + ": the whole operand was copied to the result, " + std::to_string(bytes) + " bytes");
}

}  // namespace

Status bad_index_error(const strew_kernel& kernel, std::span<const TensorView> tensors, const strew_fault& found,
                       BadIndex* bad_index) {
  const strew_index_source& source = kernel.sources[found.source];
  const strew_index_component& component = source.components[found.component];
  const TensorView &index = tensors[component.tensor], &table = tensors[source.table];
  std::vector<int64_t> position_dims;
  uint64_t repeated = 0;  // of position_dims
  for (int d = 0; d < index.rank; ++d) {
    if (static_cast<uint32_t>(d) == component.vector_dim) continue;
    if (d < 32 && (source.repeated_dims >> d & 1) != 0) repeated |= uint64_t{1} << position_dims.size();
    position_dims.push_back(index.dims[d]);
  }
  strew_fault full = found;
  full.position = full_position(found.position, position_dims, repeated);
  if (bad_index != nullptr) *bad_index = bad_index_of(full, component.tensor);
  const std::string lookup = "look-up of " + std::string(kernel.tensors[source.table].name) + ",";
  const FaultRule rule{found.source > 0        ? lookup
                       : kernel.is_gather != 0 ? "index"
                                               : "update",
                       component.counts_from_end != 0,
                       kernel.tensors[component.tensor].dtype == static_cast<uint8_t>(DType::u64)};
  return fault_status(rule, full, position_dims, table.dims[component.dim]);
}

Status check_indices(const Callable& callable, std::span<const TensorView> tensors, const Call& call, BadIndex* bad_index) {
  const strew_kernel& kernel = callable.kernel;
  std::optional<strew_fault> first;
  for (uint32_t s = 0; s < kernel.source_count; ++s) {
    if (!checks_first(kernel, s)) continue;
    strew_args args = arguments_of(call, callable.program);
    args.source = s;
    const int64_t positions = evaluate(kernel, kernel.sources[s].positions, call.dyn);
    const Phase phase{PhaseKind::check, kernel.entries[STREW_ENTRY_check], args, {positions, 1, 1}};
    const auto found = run_split(callable, call, phase, whole_ns(static_cast<double>(positions) * callable.costs.position_ns));
    if (found && (!first || found->position < first->position)) first = found;
  }
  return first ? bad_index_error(kernel, tensors, *first, bad_index) : Status();
}

void make_result(const Callable& callable, const Call& call) {
  const int64_t count = call.init;
  if (count == 0 || call.result_is_operand) return;
  const strew_kernel& kernel = callable.kernel;
  int64_t bytes = 0;
  if (__builtin_mul_overflow(count, result_bytes(kernel), &bytes)) bytes = int64_t{1} << 62;
  if (kernel.init_kind == STREW_COPY && logs(LogLevel::dispatch)) log_copy(kernel, count);
  const Nanoseconds alone = whole_ns(callable.costs.of_bytes(Bytes(bytes)));
  strew_args args = arguments_of(call, callable.program);
  const ExecutionLimits& limits = *callable.limits;
  if (exceeds_cache(Bytes(bytes), threads_for(alone, call.threads, limits), callable.last_level_cache)) args.flags = STREW_STREAM;
  // If rows of a packed result do not end on a byte, two chunks may share a byte whatever the unit is, so there is one chunk.
  const int64_t unit = kernel.packs_results != 0 ? count : limits.init_unit;
  run_split(callable, call, {PhaseKind::init, kernel.entries[STREW_ENTRY_init], args, {count, unit, 1}}, alone);
}

Status run_phases(const Callable& callable, std::span<const TensorView> tensors, const Call& call, BadIndex* bad_index) {
  // Costs are floats, even of kernels that compute none.
  const FpEnvironment environment(!callable.computes_host_floats, !callable.computes_floats);
  if (!callable.parts.empty()) return run_wide(callable, tensors, {call.threads, call.executor, bad_index});
  STREW_TRY(check_indices(callable, tensors, call, bad_index));
  make_result(callable, call);
  apply(callable, call, tensors, arguments_of(call, callable.program));
  return {};
}

// ---- Chunks. How many threads a phase is worth is decided here, from its size, so a kernel with symbols runs on one thread with small dims and
// on all threads with large ones.

namespace {

int32_t run_chunk(const Phase& phase, const Split& split, int chunk, strew_fault* found) {
  const int64_t begin = split.border(chunk), end = split.border(chunk + 1);
  if (begin >= end) return STREW_OK;
  if (phase.axis == Axis::work) return phase.entry(&phase.args, begin, end, found);
  strew_args part = phase.args;
  (phase.axis == Axis::window ? part.w0 : part.k0) = begin;
  (phase.axis == Axis::window ? part.w1 : part.k1) = end;
  return phase.entry(&part, 0, phase.positions, found);
}

}  // namespace

std::optional<strew_fault> run_chunks(Team& team, const ExecutionLimits& limits, const Phase& phase) {
  Split split = phase.split;
  // Chunks of the other axes each repeat the work on the indices, so there is one per thread.
  split.chunks = phase.axis == Axis::work ? team.threads() * limits.chunks_per_thread : team.threads();
  // For the phase check: the fault of the smallest chunk that has one, which is the first fault, since chunks are in position order.
  std::mutex mutex;
  int faulty = split.chunks;
  std::optional<strew_fault> fault;
  const auto work = [&](int chunk) {
    strew_fault found{};
    if (run_chunk(phase, split, chunk, &found) == STREW_OK) return;
    const std::lock_guard lock(mutex);
    if (chunk >= faulty) return;
    faulty = chunk;
    fault = found;
  };
  run_phase(team, limits, phase.kind, split.chunks, work, split.busy());
  return fault;
}

std::optional<strew_fault> run_split(const Callable& callable, const Call& call, const Phase& phase, Nanoseconds alone) {
  if (phase.split.total == 0) return std::nullopt;
  const ExecutionLimits& limits = *callable.limits;
  Team team(*call.executor, threads_for(alone, call.threads, limits), alone);
  if (team.has_help()) return run_chunks(team, limits, phase);
  note_phase(limits, phase.kind, 1);
  strew_fault found{};
  const int64_t end = phase.axis == Axis::work ? phase.split.total : phase.positions;
  if (phase.entry(&phase.args, 0, end, &found) == STREW_OK) return std::nullopt;
  return found;
}

int threads_for(Nanoseconds work, int most, const ExecutionLimits& limits) {
  most = std::min(most, limits.most_threads);
  if (limits.shares_all) return most;
  return static_cast<int>(std::clamp<int64_t>(work / limits.costs.thread_time(), 1, most));
}

/// Each chunk adds its thread to a set under a lock; that is slow, but only tests trace. Tested by
/// tests/unit/runtime/call/executor/execution_limits_test.cc.
int count_threads(Team& team, int chunks, const std::function<void(int)>& work) {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  team.run(chunks, [&](int chunk) {
    {
      const std::lock_guard lock(mutex);
      threads.insert(std::this_thread::get_id());
    }
    work(chunk);
  });
  return static_cast<int>(threads.size());
}

}  // namespace strew::inline v0
