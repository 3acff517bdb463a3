// See strategy.h. Tested by tests/unit/schedule_test.cc.
#include "schedules/strategies/strategy.h"

#include <string>

namespace strew {
namespace {

using Legal = Status (*)(const Plan&);
constexpr Legal kLegal[] = {
#define STREW_LEGAL_ROW(strategy, text) legal_##strategy,
    STREW_STRATEGIES(STREW_LEGAL_ROW)
#undef STREW_LEGAL_ROW
};

}  // namespace

Status legal(Strategy strategy, const Plan& plan) { return kLegal[static_cast<size_t>(strategy)](plan); }

/// One thread: whatever the plan.
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

bool wants_clip(const Plan& plan, const Schedule& schedule) {
  return schedule.strategy == Strategy::clip || (uses_owners(schedule.strategy) && legal_window(plan).ok());
}

}  // namespace strew
