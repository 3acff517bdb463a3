// Legal when no destination has two writers: a gather, a slice update (batching dims give each position its own slab), destinations known
// to be unique, or whole slabs of positions where batching dims lead. The order of updates per destination is then trivial, so the bits do not depend on the split.
// Packed results are refused: a chunk border could fall inside a byte. Cost: no index work at all, the best split where it is
// legal. Tested by tests/unit/executor_test.cc and kernel_test.cc.
#include "runtime/call/strategies/positions.h"

#include <algorithm>
#include <numeric>

namespace strew {

Status positions_legal(const Plan& plan) {
  for (int i = 0; i < plan.pairs; ++i) {
    const DType dtype = plan.tensors[static_cast<size_t>(plan.result(i))].dtype;
    if (bits(dtype) < 8)
      return unsupported("strategy positions: result " + std::to_string(i) + " is packed " + std::string(name(dtype)));
  }
  if (plan.gather || plan.kind == PlanKind::slice_update || plan.unique.holds || slab_loops(plan) > 0) return {};
  return unsupported("strategy positions: two positions may touch one destination (kind " + std::string(name(plan.kind)) +
                     ", no unique_indices)");
}

int64_t positions_unit(const Plan& plan, const int64_t* dyn, int64_t line_bytes) {
  if (plan.positions.empty()) return 1;
  if (!plan.gather && plan.kind != PlanKind::slice_update && !plan.unique.holds) {
    int64_t slab = 1;  // positions of one slab may meet, so they stay together
    for (size_t l = slab_loops(plan); l < plan.positions.size(); ++l) slab *= evaluate(plan.positions[l].extent, dyn);
    return std::max<int64_t>(slab, 1);
  }
  // Only where the innermost position loop walks the result: a gather's rows, the slabs of batching dims.
  const size_t result = static_cast<size_t>(plan.result(0));
  const int64_t stride = evaluate(plan.positions.back().strides[result], dyn);
  const int64_t bytes = (stride < 0 ? -stride : stride) * (bits(plan.tensors[result].dtype) / 8);
  if (bytes == 0 || bytes >= line_bytes) return 1;
  return line_bytes / std::gcd(line_bytes, bytes);
}

}  // namespace strew
