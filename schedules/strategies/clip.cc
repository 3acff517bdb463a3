// Strategy clip: cuts an operand dim in which indices move windows into ranges, one per thread. An element of the
// result is written by one thread, which visits all positions in order, so the order of updates is kept. Each thread
// computes every position, so the strategy pays for wide windows. Tested by tests/unit/runtime/call/strategies/clip_test.cc.
#include "schedules/strategies/strategy.h"

namespace strew::inline v0 {

const Component* clip_mover(const Plan& plan) {
  if (plan.window.empty() || plan.window.front().move().component < 0) return nullptr;
  return &plan.primary().components[static_cast<size_t>(plan.window.front().move().component)];
}

Status legal_clip(const Plan& plan) {
  if (plan.gather) return unsupported("strategy clip: a gather has no destinations to own");
  STREW_TRY(whole_bytes(plan, Strategy::clip));
  if (clip_mover(plan) == nullptr)
    return unsupported("strategy clip: no index moves the first window loop (strategy window splits it)");
  return {};
}

}  // namespace strew::inline v0
