// One barrier between phases, none inside: check (all positions, first bad one wins), init (skipped where the result buffer is the
// operand's), apply by strategy. How many threads a call is worth is decided here from its size, so that a dynamic op gets one thread on
// small dims and all of them on large ones; the schedule only says the most. Interpreted kernels run the reference whole. Tested by
// tests/unit/executor_test.cc and kernel_test.cc.
#include "runtime/call/executor/phases.h"

#include <algorithm>
#include <mutex>

#include "backends/reference/reference.h"
#include "base/fp_environment.h"
#include "base/log.h"
#include "compiler/op/fault.h"
#include "runtime/call/executor/trace.h"
#include "runtime/call/strategies/clip.h"
#include "runtime/call/strategies/exchange.h"
#include "runtime/call/strategies/owner.h"
#include "runtime/call/strategies/positions.h"
#include "runtime/call/strategies/private_tables.h"
#include "runtime/call/strategies/runs.h"
#include "runtime/call/strategies/split.h"
#include "runtime/call/strategies/window.h"
#include "runtime/call/wide.h"

namespace strew {
namespace {

/// What the chunks of a phase are ranges of: the entry's own work, or, over all positions, the first window loop or the operand dim that
/// moves it.
enum class Axis : uint8_t { work, window, destinations };

/// A phase cut into chunks of [begin, end).
struct Phase {
  strew_entry entry;
  const strew_args* args;
  Split split;
  Axis axis = Axis::work;
  int64_t positions = 0;
  // check: the fault of the smallest chunk that has one; chunks are in position order, so it is the first.
  std::mutex mutex;
  int faulty = Executor::kMaxChunks;
  strew_fault fault{};

  int32_t run_chunk(int chunk, strew_fault* found) const {
    const int64_t begin = split.border(chunk), end = split.border(chunk + 1);
    if (begin >= end) return STREW_OK;
    if (axis == Axis::work) return entry(args, begin, end, found);
    strew_args part = *args;
    (axis == Axis::window ? part.w0 : part.k0) = begin;
    (axis == Axis::window ? part.w1 : part.k1) = end;
    return entry(&part, 0, positions, found);
  }
};

void work(void* context, int chunk) noexcept {
  Phase& phase = *static_cast<Phase*>(context);
  strew_fault found{};
  if (phase.run_chunk(chunk, &found) == STREW_OK) return;
  const std::lock_guard lock(phase.mutex);
  if (chunk >= phase.faulty) return;
  phase.faulty = chunk;
  phase.fault = found;
}

/// Runs an entry over [0, total) in chunks on a team that has help. False: `fault` is the first one.
bool run_chunks(Executor::Team& team, const ExecutionLimits& limits, PhaseKind kind, strew_entry entry, const strew_args& args,
                const Split& split, strew_fault* fault, Axis axis, int64_t positions) {
  Phase phase{entry, &args, split, axis, positions};
  // A chunk of another axis repeats the index work, so there is one per thread that really works.
  phase.split.chunks = axis == Axis::work ? team.threads() * limits.chunks_per_thread : team.threads();
  run_phase(team, limits, kind, phase.split.chunks, phase.split.busy(), work, &phase);
  if (phase.faulty == Executor::kMaxChunks) return true;
  *fault = phase.fault;
  return false;
}

/// The same where the work is worth threads, else in one piece. Axis work or window.
bool run_split(const Kernel::State& state, PhaseKind kind, strew_entry entry, const strew_args& args, const Split& split,
               int64_t nanoseconds, strew_fault* fault, Axis axis = Axis::work, int64_t positions = 0) {
  if (split.total == 0) return true;
  const ExecutionLimits& limits = *state.limits;
  Executor::Team team(*state.executor, threads_for(nanoseconds, state.compiled.schedule.threads, limits), nanoseconds);
  if (team.has_help()) return run_chunks(team, limits, kind, entry, args, split, fault, axis, positions);
  note_phase(limits, kind, 1);
  return entry(&args, 0, axis == Axis::work ? split.total : positions, fault) == STREW_OK;
}

/// Elements of a window; saturates.
int64_t window_elements(const Plan& plan, const int64_t* dyn) {
  int64_t elements = 1;
  for (const Loop& loop : plan.window)
    if (__builtin_mul_overflow(elements, evaluate(loop.extent, dyn), &elements)) return int64_t{1} << 40;
  return elements;
}

/// Bytes of an element of result 0, at least one.
int64_t result_bytes(const Plan& plan) { return std::max(1, bits(plan.tensors[0].dtype) / 8); }

bool has_packed_result(const Plan& plan) {
  for (int i = 0; i < plan.pairs; ++i)
    if (bits(plan.tensors[static_cast<size_t>(plan.result(i))].dtype) < 8) return true;
  return false;
}

int64_t saturating_product(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? int64_t{1} << 62 : product;
}

OwnerCall owner_call(const Kernel::State& state, const CallShape& shape, const strew_args& args, int threads) {
  int64_t call_bytes = 0;
  for (const CallShape::Slot& slot : shape.slots) call_bytes += slot.hi - slot.lo;
  const Plan& plan = state.compiled.plan;
  const int64_t key_bytes = key_unit(plan) * (bits(plan.tensors[0].dtype) / 8);
  return {state.range, state.keys, state.list, &args, shape.positions, key_bytes, call_bytes, threads, *state.limits};
}

/// False: not for this call. Where the tables decide the bits, that depends on the shapes alone.
bool apply_private(const Kernel::State& state, const CallShape& shape, const strew_args& args, int threads, int64_t nanoseconds) {
  const Plan& plan = state.compiled.plan;
  const Schedule& schedule = state.compiled.schedule;
  int64_t elements = 1;
  for (int32_t d = 0; d < shape.slots[0].rank; ++d) elements *= shape.slots[0].dims[d];
  for (int i = 0; i < plan.pairs; ++i)
    if (!shape.slots[static_cast<size_t>(i)].contiguous) return false;
  const bool exact = combines_exactly(plan);
  const int most = exact ? std::min(schedule.tables, threads) : schedule.tables;
  const int64_t bytes = private_bytes(plan, elements, most);
  if (shape.positions == 0 || elements == 0 || bytes > int64_t{schedule.scratch_mib} << 20) return false;
  const int64_t enough = saturating_product(shape.positions, state.limits->private_elements_per_update);
  if (enough < elements / std::max<int64_t>(1, window_elements(plan, args.dyn))) return false;
  Executor::Team team(*state.executor, threads, nanoseconds);
  if (exact && !team.has_help()) return false;
  const int tables = exact ? std::min(most, team.threads()) : most;
  return run_private(team, state.scratch,
                     {plan, state.range, state.merge, &args, shape.positions, elements, tables, team.threads(), *state.limits});
}

/// Is a window wide enough for a line of the result per thread?
bool columns_share(const CallShape& shape, int64_t unit, int threads) { return shape.splits >= threads * unit; }

/// False: too small a call for owners, or nobody is free to help.
bool apply_by_owner(const Kernel::State& state, const CallShape& shape, const strew_args& args, int threads,
                    int64_t nanoseconds) {
  const Plan& plan = state.compiled.plan;
  const ExecutionLimits& limits = *state.limits;
  if (shape.positions < limits.owner_positions || !owners_fit(plan, args.dyn)) return false;
  Executor::Team team(*state.executor, threads, nanoseconds);
  if (!team.has_help()) return false;
  const OwnerCall call = owner_call(state, shape, args, team.threads());
  const int64_t column = state.clip == nullptr ? 1 : window_unit(plan, args.dyn, limits.line_bytes);
  if (state.clip != nullptr && columns_share(shape, column, call.threads) && is_lopsided(call)) {
    strew_args whole = args;
    whole.k1 = clip_extent(plan, args.dyn);
    Phase phase{state.clip, &whole, {shape.splits, column, call.threads}, Axis::window, shape.positions};
    run_phase(team, limits, PhaseKind::columns, call.threads, phase.split.busy(), work, &phase);
    return true;
  }
  switch (state.compiled.schedule.strategy) {
    case Strategy::runs:
      run_runs(team, call);
      return true;
    case Strategy::exchange:
      run_exchange(team, state.scratch, call);
      return true;
    default:
      run_owner(team, call);
      return true;
  }
}

/// False: nothing was written, and the plain loop is to do it.
bool apply_by_strategy(const Kernel::State& state, const CallShape& shape, const strew_args& args) {
  const Plan& plan = state.compiled.plan;
  const Schedule& schedule = state.compiled.schedule;
  if (schedule.strategy == Strategy::sequential) return false;
  const int64_t* dyn = args.dyn;
  const int64_t nanoseconds =
      estimate(shape.positions, saturating_product(shape.positions, window_elements(plan, dyn) * result_bytes(plan)));
  const ExecutionLimits& limits = *state.limits;
  const int threads = threads_for(nanoseconds, schedule.threads, limits);
  strew_fault unused{};
  switch (schedule.strategy) {
    case Strategy::private_tables:
      return apply_private(state, shape, args, threads, nanoseconds);
    case Strategy::positions:
      run_split(state, PhaseKind::positions, state.range, args,
                {shape.positions, positions_unit(plan, dyn, limits.line_bytes), 1}, nanoseconds, &unused);
      return true;
    case Strategy::window:
      run_split(state, PhaseKind::window, state.range, args, {shape.splits, window_unit(plan, dyn, limits.line_bytes), 1},
                nanoseconds, &unused, Axis::window, shape.positions);
      return true;
    case Strategy::clip: {
      Executor::Team team(*state.executor, threads, nanoseconds);
      if (!team.has_help()) return false;
      run_chunks(team, limits, PhaseKind::clip, state.clip, args,
                 {clip_extent(plan, dyn), clip_unit(plan, dyn, limits.line_bytes), 1}, &unused, Axis::destinations,
                 shape.positions);
      return true;
    }
    default:
      return apply_by_owner(state, shape, args, threads, nanoseconds);
  }
}

void apply(const Kernel::State& state, const CallShape& shape, const strew_args& args) {
  if (shape.positions == 0 || apply_by_strategy(state, shape, args)) return;
  note_phase(*state.limits, PhaseKind::whole, 1);
  strew_fault unused{};
  state.range(&args, 0, shape.positions, &unused);
}

Status fault_of(const Kernel::State& state, std::span<const TensorView> tensors, const strew_fault& fault) {
  const Op& op = state.compiled.op;
  const std::vector<TensorSlot> slots = tensor_slots(op);
  size_t indices = 0;
  while (slots[indices].role != Role::indices) ++indices;
  const TensorView &index = tensors[indices], &table = tensors[is_scatter(op) ? 0 : 1];
  return fault_status(op, fault, {index.dims, static_cast<size_t>(index.rank)}, {table.dims, static_cast<size_t>(table.rank)});
}

}  // namespace

/// One thread's time, roughly: 16 bytes of hot data per nanosecond, a few nanoseconds per position. Saturates.
int64_t estimate(int64_t positions, int64_t bytes) {
  constexpr int64_t kMost = int64_t{1} << 40;
  return std::min(positions, kMost / 2) * 2 + std::min(bytes, kMost) / 16;
}

int threads_for(int64_t nanoseconds, int most, const ExecutionLimits& limits) {
  most = std::min(most, limits.most_threads);
  if (limits.thread_nanoseconds == 0) return most;
  return static_cast<int>(std::clamp<int64_t>(nanoseconds / limits.thread_nanoseconds, 1, most));
}

/// Field by field: GCC clears an object of this size by `rep stos`, ten nanoseconds of every call.
strew_args arguments_of(const Call& call) {
  strew_args args;
  args.abi = STREW_ABI_VERSION;
  args.flags = 0;
  args.data = call.data;
  args.dyn = call.shape->dyn.data();
  args.pos = nullptr;
  args.key = nullptr;
  args.n_list = 0;
  args.w0 = 0;
  args.w1 = call.shape->splits;
  args.k0 = 0;
  args.k1 = 0;
  args.scratch = nullptr;
  return args;
}

void log_copy(const Kernel::State& state, int64_t elements) {
  const Plan& plan = state.compiled.plan;
  int64_t bytes = 0;
  for (int i = 0; i < plan.pairs; ++i)
    bytes += static_cast<int64_t>(storage_bytes(plan.tensors[static_cast<size_t>(plan.result(i))].dtype, elements));
  log(LogLevel::call,
      state.compiled.symbol + ": the whole operand was copied to the result, " + std::to_string(bytes) + " bytes");
}

namespace {

[[gnu::cold]] Status refuse(const Kernel::State& state, std::span<const TensorView> tensors, const strew_fault& found,
                            strew_fault* fault) {
  if (fault) *fault = found;
  return fault_of(state, tensors, found);
}

}  // namespace

Status check_indices(const Kernel::State& state, std::span<const TensorView> tensors, const Call& call, strew_fault* fault) {
  if (!state.compiled.plan.checks_first) return {};
  const strew_args args = arguments_of(call);
  const int64_t positions = call.shape->positions;
  strew_fault found{};
  if (run_split(state, PhaseKind::check, state.check, args, {positions, 1, 1}, estimate(positions, 0), &found)) return {};
  return refuse(state, tensors, found, fault);
}

void make_result(const Kernel::State& state, const Call& call) {
  const int64_t count = call.shape->init;
  if (count == 0 || call.result_is_operand) return;
  const Plan& plan = state.compiled.plan;
  const int64_t bytes = saturating_product(count, result_bytes(plan));
  if (plan.init_kind == InitKind::copy && logs(LogLevel::call)) log_copy(state, count);
  const int64_t nanoseconds = estimate(0, bytes);
  strew_args args = arguments_of(call);
  // Read and written, per thread: beyond half of the last cache, stores that bypass it win.
  const ExecutionLimits& limits = *state.limits;
  const int threads = threads_for(nanoseconds, state.compiled.schedule.threads, limits);
  const int64_t cache = limits.last_level_cache_bytes != 0 ? limits.last_level_cache_bytes : state.compiled.target.l3_bytes;
  if (2 * (bytes / threads) > cache / 2) args.flags = STREW_STREAM;
  // Two chunks may meet inside a byte of a packed result, whatever the unit, where its rows do not end on one.
  const int64_t unit = has_packed_result(plan) ? count : limits.init_unit;
  strew_fault unused{};
  run_split(state, PhaseKind::init, state.init, args, {count, unit, 1}, nanoseconds, &unused);
}

Status run_at_once(const Kernel::State& state, std::span<const TensorView> tensors, const Call& call, strew_fault* fault) {
  const int64_t positions = call.shape->positions;
  if (positions == 0) return {};
  const FpEnvironment environment(state.computes_floats);
  const strew_args args = arguments_of(call);
  strew_fault found;
  if (state.check_at_once != nullptr && state.check_at_once(&args, 0, positions, &found) != STREW_OK)
    return refuse(state, tensors, found, fault);
  state.range(&args, 0, positions, &found);
  return {};
}

Status run_phases(const Kernel::State& state, std::span<const TensorView> tensors, const Call& call, strew_fault* fault) {
  const FpEnvironment environment(state.computes_floats);
  if (!state.parts.empty()) return run_wide(state, tensors, fault);
  if (const auto& interpreter = state.compiled.artifact.interpreter; interpreter != nullptr)
    return interpreter->run(state.compiled.op, tensors, fault);
  if (!state.range) return run_reference(state.compiled.op, tensors, fault);
  STREW_TRY(check_indices(state, tensors, call, fault));
  make_result(state, call);
  apply(state, *call.shape, arguments_of(call));
  return {};
}

}  // namespace strew
