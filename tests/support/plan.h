// The plan of an op's canonical form, for tests that look at plans or hand them to a backend themselves.
#pragma once

#include "backends/pipeline.h"

namespace strew {

inline Expected<Plan> canonical_plan(const VerifiedOp& op) {
  STREW_ASSIGN(Compiled kernel, plan_kernel(op, {}));
  return std::move(kernel.plan);
}

}  // namespace strew
