// What `strew explain` says of costs: the machine's numbers, the cheapest candidate of every strategy, and what other values of
// the chosen schedule's knobs would cost.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "schedules/costs/explained.h"

namespace strew::cli {

/// Empty for an NPU target.
std::string costs_text(const ExplainedCosts& costs);
/// null for an NPU target.
nlohmann::ordered_json costs_json(const ExplainedCosts& costs);

}  // namespace strew::cli
