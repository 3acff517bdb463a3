// Strategy window: cuts the first window loop into chunks. Legal if two iterations of that loop never write one
// destination: rows (windows coincide or are disjoint), slice updates, gathers, and general windows whose first loop is
// over a dim that no index moves. Every thread visits the positions in order, so the order per destination is kept. The
// work on indices is done once per thread; the strategy pays from about 64 bytes of window per thread on, and skew does
// not slow it. Tested by tests/unit/schedules/schedule_test.cc.
#include "schedules/strategies/strategy.h"

namespace strew::inline v0 {

Status legal_window(const Plan& plan) {
  STREW_TRY(whole_bytes(plan, Strategy::window));
  if (plan.window.empty()) return unsupported("strategy window: the window has one element");
  if (!plan.gather && plan.kind == PlanKind::general && plan.window.front().move().touches)
    return unsupported("strategy window: windows may overlap partly along the first window loop (kind general)");
  return {};
}

}  // namespace strew::inline v0
