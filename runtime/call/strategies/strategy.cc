// See strategy.h. Tested by tests/unit/kernel_test.cc and tests/differential.
#include "runtime/call/strategies/strategy.h"

#include "runtime/call/executor/phases.h"

namespace strew::inline v0 {
namespace {

using Apply = bool (*)(const ApplyCall&);
constexpr Apply kApply[] = {
#define STREW_APPLY_ROW(strategy, text) apply_##strategy,
    STREW_STRATEGIES(STREW_APPLY_ROW)
#undef STREW_APPLY_ROW
};

}  // namespace

/// Strategy sequential: always declines, so that one thread runs the range entry over all positions.
bool apply_sequential(const ApplyCall&) { return false; }

void apply(const Callable& callable, const Call& call, std::span<const TensorView> tensors, const strew_args& args) {
  if (call.positions == 0) return;
  const strew_kernel& kernel = callable.kernel;
  if (kernel.strategy != STREW_STRATEGY_sequential) {
    const int64_t nanoseconds = apply_nanoseconds(callable, call);
    const int threads = threads_for(nanoseconds, call.threads, *callable.limits);
    if (kApply[kernel.strategy]({callable, call, tensors, args, threads, nanoseconds})) return;
  }
  note_phase(*callable.limits, PhaseKind::whole, 1);
  strew_fault unused{};
  callable.range(&args, 0, call.positions, &unused);
}

}  // namespace strew::inline v0
