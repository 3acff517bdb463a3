// Legality and unit of strategy clip; the walk itself is the clip entry over all positions. Each thread resolves every index, so it wants
// wide windows; elements of the result have one owner, which sees all updates in position order. Tested by tests/differential and
// tests/unit/clip_test.cc.
#include "runtime/call/strategies/clip.h"

#include <numeric>

#include "runtime/call/strategies/window.h"

namespace strew {
namespace {

/// The component that moves the first window loop, or null.
const Component* mover(const Plan& plan) {
  if (plan.window.empty() || plan.window.front().moved_by < 0) return nullptr;
  return &plan.components[static_cast<size_t>(plan.window.front().moved_by)];
}

}  // namespace

Status clip_legal(const Plan& plan) {
  if (plan.gather) return unsupported("strategy clip: a gather has no destinations to own");
  for (int i = 0; i < plan.pairs; ++i) {
    const DType dtype = plan.tensors[static_cast<size_t>(plan.result(i))].dtype;
    if (bits(dtype) < 8)
      return unsupported("strategy clip: result " + std::to_string(i) + " is packed " + std::string(name(dtype)));
  }
  if (mover(plan) == nullptr)
    return unsupported("strategy clip: no index moves the first window loop (strategy window splits it)");
  return {};
}

bool wants_clip(const Plan& plan, const Schedule& schedule) {
  return schedule.strategy == Strategy::clip || (uses_owners(schedule.strategy) && window_legal(plan).ok());
}

int64_t clip_extent(const Plan& plan, const int64_t* dyn) {
  const Component* component = mover(plan);
  return component == nullptr ? 1 : evaluate(component->dim, dyn);
}

int64_t clip_unit(const Plan& plan, const int64_t* dyn, int64_t line_bytes) {
  const auto result = static_cast<size_t>(plan.result(0));
  const int64_t stride = evaluate(mover(plan)->strides[result], dyn);
  const int64_t bytes = (stride < 0 ? -stride : stride) * (bits(plan.tensors[result].dtype) / 8);
  return bytes == 0 || bytes >= line_bytes ? 1 : line_bytes / std::gcd(line_bytes, bytes);
}

}  // namespace strew
