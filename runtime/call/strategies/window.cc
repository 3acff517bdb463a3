// Legal when two iterations of the first window loop never meet at one destination: rows (windows coincide or are disjoint), slice
// updates, gathers, and general windows whose first loop is over a dim that no index moves. Every thread sees the positions in
// order, so the order per destination is kept. Cost: the index work is done once per thread; pays from about 64 bytes of window per
// thread (research: column split, immune to skew). Packed results are refused. Tested by tests/unit/executor_test.cc.
#include "runtime/call/strategies/window.h"

#include <numeric>

namespace strew {

Status window_legal(const Plan& plan) {
  for (int i = 0; i < plan.pairs; ++i) {
    const DType dtype = plan.tensors[static_cast<size_t>(plan.result(i))].dtype;
    if (bits(dtype) < 8)
      return unsupported("strategy window: result " + std::to_string(i) + " is packed " + std::string(name(dtype)));
  }
  if (plan.window.empty()) return unsupported("strategy window: the window has one element");
  if (!plan.gather && plan.kind == PlanKind::general && plan.window.front().touches_indexed)
    return unsupported("strategy window: windows may overlap partly along the first window loop (kind general)");
  return {};
}

int64_t window_unit(const Plan& plan, const int64_t* dyn, int64_t line_bytes) {
  if (plan.window.empty()) return 1;
  const size_t result = static_cast<size_t>(plan.result(0));
  const int64_t stride = evaluate(plan.window.front().strides[result], dyn);
  const int64_t bytes = (stride < 0 ? -stride : stride) * (bits(plan.tensors[result].dtype) / 8);
  if (bytes == 0 || bytes >= line_bytes) return 1;
  return line_bytes / std::gcd(line_bytes, bytes);
}

}  // namespace strew
