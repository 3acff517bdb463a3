// See limits.h.
#include "runtime/call/executor/limits.h"

#include "base/machine_costs.h"
#include "runtime/call/learner.h"
#include "strew/options.h"

namespace strew::inline v0 {
namespace {

struct CountingLimits : ExecutionLimits {
  LearningCounts counts;
};

ExecutionLimits limits_here() {
  const Machine& here = machine();
  ExecutionLimits made;
  made.costs = call_costs(known_costs(here), {here.l1d_bytes, here.l2_bytes, here.l3_bytes});
  return made;
}

}  // namespace

std::shared_ptr<const ExecutionLimits> default_limits() {
  // Never destroyed: kernels may run while static objects are destroyed.
  static const auto* const limits = new std::shared_ptr<const ExecutionLimits>(new_limits(process_options().learn));
  return *limits;
}

std::shared_ptr<const ExecutionLimits> new_limits(bool learns) {
  static const ExecutionLimits here = limits_here();
  auto made = std::make_shared<CountingLimits>();
  static_cast<ExecutionLimits&>(*made) = here;
  if (learns) made->learning = &made->counts;
  return made;
}

}  // namespace strew::inline v0
