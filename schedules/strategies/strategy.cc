// See strategy.h. Tested by tests/unit/schedules/schedule_test.cc.
#include "schedules/strategies/strategy.h"

#include <string>

#include "schedules/costs/workload.h"
#include "schedules/strategies/private_tables.h"

namespace strew::inline v0 {
namespace {

constexpr Status (*kLegal[])(const Plan&) = {
#define STREW_LEGAL(strategy, text) legal_##strategy,
    STREW_STRATEGIES(STREW_LEGAL)
#undef STREW_LEGAL
};

}  // namespace

Status legal(Strategy strategy, const Plan& plan) { return kLegal[static_cast<size_t>(strategy)](plan); }
std::vector<EntryKind> entries_of(Strategy strategy, const Plan& plan) {
  std::vector<EntryKind> list;
  for (int kind = 0; kind < STREW_ENTRY_COUNT; ++kind)
    if ((traits_of(strategy).entries >> kind & 1) != 0) list.push_back(static_cast<EntryKind>(kind));
  // Where windows can be cut into columns, in case a few destinations turn out to be hot.
  if (traits_of(strategy).has_owners() && legal_window(plan).ok()) list.push_back(EntryKind::clip);
  return list;
}

uint32_t strategies_of(const Plan& plan, const Schedule& schedule) {
  const Strategy own = schedule.strategy;
  if (traits_of(own).may_group && !combines_exactly(plan)) return bit(own);  // the tables decide the bits
  uint32_t all = bit(own) | bit(Strategy::sequential);
  const bool is_open = workload_of(plan).is_open;
  // Where the extents are known and one thread is the fastest, only the stores are left to the call.
  if (!schedule.adapts || (!is_open && own == Strategy::sequential)) return all;
  for (int other = 0; other < STREW_STRATEGY_COUNT; ++other) {
    const StrategyTraits& traits = traits_of(other);
    const bool is_carried =
        traits.carried_by == CarriedBy::all || (traits.carried_by == CarriedBy::owners && traits_of(own).has_owners());
    // Only the call knows whether there are many updates per element, so that grouping them pays.
    const bool groups = traits.may_group && !(is_open && combines_exactly(plan));
    if (is_carried && !groups && legal(static_cast<Strategy>(other), plan).ok()) all |= bit(static_cast<Strategy>(other));
  }
  return all;
}

/// Strategy sequential is legal for every plan.
Status legal_sequential(const Plan&) { return {}; }

Status whole_bytes(const Plan& plan, Strategy strategy) {
  for (int i = 0; i < plan.pairs; ++i) {
    const DType dtype = plan.tensors[static_cast<size_t>(plan.result(i))].dtype;
    if (bits(dtype) < 8)
      return unsupported("strategy " + std::string(name(strategy)) + ": result " + std::to_string(i) + " is packed " +
                         std::string(name(dtype)));
  }
  return {};
}

}  // namespace strew::inline v0
