// Strategy clip: every thread visits all index positions, in order, and applies the part of each window that lies in its own range of the
// operand dim moved by the first window loop. Tested by tests/unit/runtime/call/strategies/clip_test.cc.
#include "runtime/call/descriptor.h"
#include "runtime/call/executor/chunks.h"
#include "runtime/call/strategies/strategy.h"

namespace strew::inline v0 {

bool apply_clip(const ApplyCall& call) {
  const strew_kernel& kernel = call.kernel();
  Team team(*call.call.executor, call.threads, call.alone);
  if (!team.has_help()) return false;
  const int64_t extent = evaluate(kernel, kernel.clip_extent, call.args.dyn);
  const int64_t unit = line_unit(kernel, kernel.clip_stride, call.args.dyn, call.limits().line_bytes);
  strew_fault unused{};
  run_chunks(
      team, call.limits(),
      {PhaseKind::clip, call.entry(STREW_ENTRY_clip), call.args, {extent, unit, 1}, Axis::destinations, call.call.positions},
      &unused);
  return true;
}

}  // namespace strew::inline v0
