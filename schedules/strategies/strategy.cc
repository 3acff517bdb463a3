// See strategy.h. Tested by tests/unit/schedule_test.cc.
#include "schedules/strategies/strategy.h"

#include <string>

namespace strew::inline v0 {
namespace {

struct Row {
  Status (*legal)(const Plan&);
  std::vector<EntryKind> (*entries)(const Plan&);
  Prediction (*cost)(const CostQuestion&);
};
constexpr Row kRows[] = {
#define STREW_STRATEGY_ROW(strategy, text) {legal_##strategy, entries_##strategy, cost_##strategy},
    STREW_STRATEGIES(STREW_STRATEGY_ROW)
#undef STREW_STRATEGY_ROW
};

}  // namespace

Status legal(Strategy strategy, const Plan& plan) { return kRows[static_cast<size_t>(strategy)].legal(plan); }
std::vector<EntryKind> entries_of(Strategy strategy, const Plan& plan) {
  return kRows[static_cast<size_t>(strategy)].entries(plan);
}

Prediction cost(Strategy strategy, const CostQuestion& question) { return kRows[static_cast<size_t>(strategy)].cost(question); }

/// Strategy sequential is legal for every plan.
Status legal_sequential(const Plan&) { return {}; }
std::vector<EntryKind> entries_sequential(const Plan&) { return {}; }
Prediction cost_sequential(const CostQuestion& question) { return cost_of_share(question, {}); }

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
