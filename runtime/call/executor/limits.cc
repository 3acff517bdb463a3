// See limits.h.
#include "runtime/call/executor/limits.h"

#include "base/machine_costs.h"

namespace strew::inline v0 {

std::shared_ptr<const ExecutionLimits> default_limits() {
  static const ExecutionLimits limits = [] {
    const Machine& here = machine();
    ExecutionLimits made;
    made.costs = call_costs(known_costs(here), {here.l1d_bytes, here.l2_bytes, here.l3_bytes});
    return made;
  }();
  return {std::shared_ptr<void>(), &limits};
}

}  // namespace strew::inline v0
