// See strategy.h. Tested by tests/unit/kernel_test.cc and tests/differential.
#include "runtime/call/strategies/strategy.h"

#include "runtime/call/descriptor.h"
#include "runtime/call/executor/chunks.h"

namespace strew {
namespace {

using Apply = bool (*)(const ApplyCall&);
constexpr Apply kApply[] = {
#define STREW_APPLY_ROW(strategy, text) apply_##strategy,
    STREW_STRATEGIES(STREW_APPLY_ROW)
#undef STREW_APPLY_ROW
};

int64_t saturating_product(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? int64_t{1} << 62 : product;
}

}  // namespace

/// One thread runs the range entry over everything: what happens where a strategy declines.
bool apply_sequential(const ApplyCall&) { return false; }

void apply(const Callable& callable, const Call& call, std::span<const TensorView> tensors, const strew_args& args) {
  if (call.positions == 0) return;
  const strew_kernel& kernel = callable.kernel;
  if (kernel.strategy != STREW_STRATEGY_sequential) {
    const int64_t window_bytes = saturating_product(evaluate(kernel, kernel.window, args.dyn), result_bytes(kernel));
    const int64_t nanoseconds = estimate(call.positions, saturating_product(call.positions, window_bytes));
    const int threads = threads_for(nanoseconds, callable.threads, *callable.limits);
    if (kApply[kernel.strategy]({callable, call, tensors, args, threads, nanoseconds})) return;
  }
  note_phase(*callable.limits, PhaseKind::whole, 1);
  strew_fault unused{};
  callable.range(&args, 0, call.positions, &unused);
}

}  // namespace strew
