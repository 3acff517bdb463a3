// Strategy window: every thread visits all index positions, in order, and applies its own chunk of the first window loop. Tested by
// tests/unit/runtime/call/executor/executor_test.cc.
#include "runtime/call/descriptor.h"
#include "runtime/call/executor/chunks.h"
#include "runtime/call/strategies/strategy.h"

namespace strew::inline v0 {

bool apply_window(const ApplyCall& call) {
  const strew_kernel& kernel = call.kernel();
  const int64_t unit = line_unit(kernel, kernel.window_stride, call.args.dyn, call.limits().line_bytes);
  strew_fault unused{};
  run_split(call.callable, call.call,
            {PhaseKind::window,
             call.callable.applies(call.call),
             call.args,
             {call.call.splits, unit, 1},
             Axis::window,
             call.call.positions},
            call.alone, &unused);
  return true;
}

}  // namespace strew::inline v0
