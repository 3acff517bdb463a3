// Strategy window: threads share out the first window loop. Legal when two iterations of it never meet at one destination: rows (windows
// coincide or are disjoint), slice updates, gathers, and general windows whose first loop is over a dim that no index moves. Every thread sees
// the positions in order, so the order per destination is kept. Cost: the index work is done once per thread; pays from about 64 bytes of
// window per thread (research: column split, immune to skew). Tested by tests/unit/schedule_test.cc.
#include "schedules/strategies/strategy.h"

namespace strew {

Status legal_window(const Plan& plan) {
  STREW_TRY(whole_bytes(plan, Strategy::window));
  if (plan.window.empty()) return unsupported("strategy window: the window has one element");
  if (!plan.gather && plan.kind == PlanKind::general && plan.window.front().touches_indexed)
    return unsupported("strategy window: windows may overlap partly along the first window loop (kind general)");
  return {};
}

std::vector<EntryKind> entries_window(const Plan&) { return {}; }

}  // namespace strew
