// Strategy positions: every thread applies its own chunk of index positions, with the whole window. No destination has two writers, or
// batching dims give slabs of positions destinations of their own: then slabs stay together. Tested by tests/unit/executor_test.cc.
#include <algorithm>

#include "runtime/call/descriptor.h"
#include "runtime/call/executor/chunks.h"
#include "runtime/call/strategies/strategy.h"

namespace strew {
namespace {

/// Chunks begin at multiples of this.
int64_t unit_of(const ApplyCall& call) {
  const strew_kernel& kernel = call.kernel();
  if (kernel.slab.factor != 0) return std::max<int64_t>(evaluate(kernel, kernel.slab, call.args.dyn), 1);
  return line_unit(kernel, kernel.position_stride, call.args.dyn, call.limits().line_bytes);
}

}  // namespace

bool apply_positions(const ApplyCall& call) {
  strew_fault unused{};
  run_split(call.callable, {PhaseKind::positions, call.callable.range, call.args, {call.call.positions, unit_of(call), 1}},
            call.nanoseconds, &unused);
  return true;
}

}  // namespace strew
