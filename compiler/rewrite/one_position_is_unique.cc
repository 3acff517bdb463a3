// See one_position_is_unique.h. Tested by tests/golden/plan_test.cc.
#include "compiler/rewrite/one_position_is_unique.h"

#include <algorithm>

namespace strew {

bool one_position_is_unique(Op& op) {
  auto* s = std::get_if<Scatter>(&op);
  if (s == nullptr || s->unique_indices) return false;
  const std::vector<int64_t>& batching = s->dims.scatter_indices_batching_dims;
  for (int64_t d = 0; d < s->indices.rank(); ++d) {
    if (d == s->dims.index_vector_dim || s->indices.dims[static_cast<size_t>(d)] == 1) continue;
    if (std::find(batching.begin(), batching.end(), d) == batching.end()) return false;
  }
  s->unique_indices = true;
  return true;
}

}  // namespace strew
