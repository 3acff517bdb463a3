// Strategy positions: every thread applies its own chunk of index positions, with whole windows. That is legal if no two threads write one
// destination: the op is a gather or a slice update, destinations are unique, or batching dims give each slab of positions destinations of
// its own. In the last case no chunk cuts through a slab. Tested by tests/unit/runtime/call/executor/executor_test.cc.
#include <algorithm>

#include "runtime/call/descriptor.h"
#include "runtime/call/executor/chunks.h"
#include "runtime/call/strategies/strategy.h"

namespace strew::inline v0 {

int64_t position_unit(const ApplyCall& call) {
  const strew_kernel& kernel = call.kernel();
  if (kernel.slab.factor != 0) return std::max<int64_t>(evaluate(kernel, kernel.slab, call.args.dyn), 1);
  return line_unit(kernel, kernel.position_stride, call.args.dyn, call.limits().line_bytes);
}

bool apply_positions(const ApplyCall& call) {
  strew_fault unused{};
  run_split(call.callable, call.call,
            {PhaseKind::positions, call.callable.applies(call.call), call.args, {call.call.positions, position_unit(call), 1}},
            call.alone, &unused);
  return true;
}

}  // namespace strew::inline v0
