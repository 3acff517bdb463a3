// See one_position_is_unique.h. Tested by tests/golden/plan_test.cc.
#include "compiler/rewrite/one_position_is_unique.h"

#include "compiler/op/access_dims.h"

namespace strew::inline v0 {

bool one_position_is_unique(Op& op) {
  auto* s = std::get_if<Scatter>(&op);
  if (s == nullptr || s->unique_indices) return false;
  for (const AccessDims::Position& position : AccessDims(*s).positions)
    if (position.operand_dim < 0 && s->indices.dims[static_cast<size_t>(position.indices_dim)] != 1) return false;
  s->unique_indices = true;
  return true;
}

}  // namespace strew::inline v0
