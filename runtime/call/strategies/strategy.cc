// See strategy.h. Tested by tests/unit/backends/kernel_test.cc and tests/differential.
#include "runtime/call/strategies/strategy.h"

#include <algorithm>
#include <limits>

#include "runtime/call/executor/phases.h"
#include "runtime/call/strategies/estimates.h"

namespace strew::inline v0 {
namespace {

constexpr bool (*kApply[])(const ApplyCall&) = {
#define STREW_APPLY(strategy, text) apply_##strategy,
    STREW_STRATEGIES(STREW_APPLY)
#undef STREW_APPLY
};

/// Calls `function` with each of the strategies, bits in `all`, and its estimate.
template <class Function>
void each_estimate(const ApplyCall& call, uint32_t all, const Function& function) {
  const CallSizes sizes{call};
  const StrategyShares shares(sizes);
  const CallEstimates estimates(call);
#define STREW_ESTIMATE(strategy, text) \
  if ((all >> STREW_STRATEGY_##strategy & 1) != 0) function(STREW_STRATEGY_##strategy, estimates.of(shares.strategy()));
  STREW_STRATEGIES(STREW_ESTIMATE)
#undef STREW_ESTIMATE
}

}  // namespace

Bytes table_bytes(const strew_kernel& kernel, std::span<const TensorView> tensors) {
  const TensorView& table = tensors[table_of(kernel)];
  int64_t bits = kernel.tensors[table_of(kernel)].bits;
  for (int d = 0; d < table.rank; ++d)
    if (__builtin_mul_overflow(bits, table.dims[d], &bits)) return Bytes(std::numeric_limits<int64_t>::max());
  return Bytes(bits / 8);
}

/// Strategy sequential: always declines, so that one thread runs the range entry over all positions.
bool apply_sequential(const ApplyCall&) { return false; }

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
  const strew_kernel& kernel = callable.kernel;
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
