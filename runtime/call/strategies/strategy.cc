// See strategy.h. Tested by tests/unit/backends/kernel_test.cc and tests/differential.
#include "runtime/call/strategies/strategy.h"

#include <algorithm>
#include <limits>

#include "base/strategy_traits.h"
#include "runtime/call/executor/chunks.h"
#include "runtime/call/executor/phases.h"
#include "runtime/call/strategies/estimates.h"

namespace strew::inline v0 {
namespace {

constexpr bool (*kApply[])(const ApplyCall&) = {
#define STREW_APPLY(strategy, text) apply_##strategy,
    STREW_STRATEGIES(STREW_APPLY)
#undef STREW_APPLY
};

/// Are there so many updates that private tables pay, and memory for them? Of other strategies the compiler knows the answer.
[[gnu::always_inline]] inline bool suits(const ApplyCall& call, const StrategyTraits& traits) {
  return !traits.may_group || repays_tables(call, elements(call.tensors[0]));
}

/// Calls `function` with each of the strategies, bits in `all`, and its estimate.
template <class Function>
void each_estimate(const ApplyCall& call, uint32_t all, const Function& function) {
  const CallSizes sizes{call};
  const StrategyShares shares(sizes);
  const CallEstimates estimates(call);
  constexpr double kNever = std::numeric_limits<double>::infinity();
#define STREW_ESTIMATE(strategy, text)             \
  if ((all >> STREW_STRATEGY_##strategy & 1) != 0) \
    function(STREW_STRATEGY_##strategy,            \
             suits(call, traits_of(STREW_STRATEGY_##strategy)) ? estimates.of(shares.strategy()) : kNever);
  STREW_STRATEGIES(STREW_ESTIMATE)
#undef STREW_ESTIMATE
}

bool run_alone_or_split(const ApplyCall& call, const Phase& phase) {
  strew_fault unused{};
  run_split(call.callable, call.call, phase, call.alone, &unused);
  return true;
}

}  // namespace

Bytes table_bytes(const strew_kernel& kernel, std::span<const TensorView> tensors) {
  const TensorView& table = tensors[table_of(kernel)];
  int64_t bits = kernel.tensors[table_of(kernel)].bits;
  for (int d = 0; d < table.rank; ++d)
    if (__builtin_mul_overflow(bits, table.dims[d], &bits)) return Bytes(std::numeric_limits<int64_t>::max());
  return Bytes(bits / 8);
}

int64_t position_unit(const ApplyCall& call) {
  const strew_kernel& kernel = call.kernel();
  if (kernel.slab.factor != 0) return std::max<int64_t>(evaluate(kernel, kernel.slab, call.args.dyn), 1);
  return line_unit(call, kernel.position_stride);
}

/// Always declines, so that one thread runs the range entry over all positions.
bool apply_sequential(const ApplyCall&) { return false; }

/// Every thread applies its own chunk of index positions, with whole windows. That is legal if no two threads write one destination: the op is
/// a gather or a slice update, destinations are unique, or batching dims give each slab of positions destinations of its own. In the last case
/// no chunk cuts through a slab. Tested by tests/unit/runtime/call/executor/executor_test.cc.
bool apply_positions(const ApplyCall& call) {
  const Split split{call.call.positions, position_unit(call), 1};
  return run_alone_or_split(call, {PhaseKind::positions, call.callable.applies(call.call), call.args, split});
}

/// Every thread visits all index positions, in order, and applies its own chunk of the first window loop. Tested by
/// tests/unit/runtime/call/executor/executor_test.cc.
bool apply_window(const ApplyCall& call) {
  const Split split{call.call.splits, line_unit(call, call.kernel().window_stride), 1};
  return run_alone_or_split(
      call, {PhaseKind::window, call.callable.applies(call.call), call.args, split, Axis::window, call.call.positions});
}

/// Every thread visits all index positions, in order, and applies the part of each window that lies in its own range of the operand dim moved
/// by the first window loop. Tested by tests/unit/runtime/call/strategies/clip_test.cc.
bool apply_clip(const ApplyCall& call) {
  Team team(*call.call.executor, call.threads, call.alone);
  if (!team.has_help()) return false;
  const Split split{clip_extent(call), line_unit(call, call.kernel().clip_stride), 1};
  strew_fault unused{};
  run_chunks(team, call.limits(),
             {PhaseKind::clip, call.entry(STREW_ENTRY_clip), call.args, split, Axis::destinations, call.call.positions}, &unused);
  return true;
}

ApplyCall apply_call(const Callable& callable, const Call& call, std::span<const TensorView> tensors, const strew_args& args) {
  const Bytes table = table_bytes(callable.kernel, tensors);
  const CallCosts::Windows windows = callable.costs.windows(call.positions, window_bytes(callable, call), table);
  const Nanoseconds alone = whole_ns(windows.ns);
  const int threads = threads_for(alone, call.threads, *callable.limits);
  return {callable, call, tensors, args, threads, alone, windows.streams, table};
}

int choose_strategy(const ApplyCall& call) {
  const strew_kernel& kernel = call.kernel();
  const int own = kernel.strategy, wanted = call.limits().strategy;
  if (wanted >= 0) return (kernel.strategies >> wanted & 1) != 0 ? wanted : own;
  constexpr uint32_t kAlone = 1U << STREW_STRATEGY_sequential;
  const uint32_t all = kernel.strategies | 1U << own;
  if ((all & ~(1U << own) & ~kAlone) == 0 || call.limits().shares_all) return own;
  // Where all shapes are known, the schedule's choice knows more than these estimates.
  constexpr double kKnown = 0.75;
  const double of_own = kernel.symbol_count == 0 ? kKnown : 1;
  double least = std::numeric_limits<double>::infinity();
  int best = own;
  const auto consider = [&](int strategy, double nanoseconds) {
    if (strategy == own) nanoseconds *= of_own;
    if (nanoseconds > least || (nanoseconds == least && strategy != own)) return;
    least = nanoseconds;
    best = strategy;
  };
  each_estimate(call, all, consider);
  return best;
}

std::array<int, STREW_STRATEGY_COUNT> strategies_within(const ApplyCall& call, double times) {
  const uint32_t all = call.kernel().strategies | 1U << call.kernel().strategy;
  double least = std::numeric_limits<double>::infinity();
  each_estimate(call, all, [&](int, double nanoseconds) { least = std::min(least, nanoseconds); });
  std::array<int, STREW_STRATEGY_COUNT> list;
  list.fill(-1);
  size_t count = 0;
  each_estimate(call, all, [&](int strategy, double nanoseconds) {
    if (nanoseconds <= times * least) list[count++] = strategy;
  });
  return list;
}

void apply(const Callable& callable, const Call& call, std::span<const TensorView> tensors, const strew_args& args) {
  if (call.moves_nothing()) return;
  if (!callable.always_runs_alone) {
    const ApplyCall apply = apply_call(callable, call, tensors, args);
    const bool has_learned = call.strategy >= 0 && callable.limits->strategy < 0;
    if (kApply[has_learned ? call.strategy : choose_strategy(apply)](apply)) return;
  }
  note_phase(*callable.limits, PhaseKind::whole, 1);
  strew_fault unused{};
  callable.applies(call)(&args, 0, call.positions, &unused);
}

}  // namespace strew::inline v0
