// See entries.h. Tested by tests/unit/schedules/schedule_test.cc and every kernel that runs.
#include "schedules/entries.h"

#include <algorithm>

#include "schedules/stores.h"
#include "schedules/strategies/strategy.h"

namespace strew::inline v0 {

std::vector<EntryKind> entries_of(const Plan& plan, const Schedule& schedule) {
  std::vector<EntryKind> list = {EntryKind::range};
  if (plan.checks_first()) list.push_back(EntryKind::check);
  if (!plan.gather && plan.init_kind != InitKind::in_place) list.push_back(EntryKind::init);
  if (chooses_stores(plan, schedule)) list.push_back(EntryKind::stream);
  const uint32_t strategies = strategies_of(plan, schedule);
  for (const Strategy strategy : kStrategies) {
    if ((strategies & bit(strategy)) == 0) continue;
    for (const EntryKind kind : entries_of(strategy, plan))
      if (std::find(list.begin(), list.end(), kind) == list.end()) list.push_back(kind);
  }
  return list;
}

}  // namespace strew::inline v0
