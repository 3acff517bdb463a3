// See costs.h. Tested by tests/error/cli_test.cc.
#include "tools/strew/costs.h"

#include <fmt/format.h>

#include "schedules/knobs.h"

namespace strew::cli {
using Json = nlohmann::ordered_json;

std::string costs_text(const ExplainedCosts& costs) {
  if (costs.source.empty()) return {};
  std::string out = fmt::format("  {:<11} {}; calls of {} threads\n", "costs", costs.source, costs.threads);
  for (const auto& [schedule, predicted, is_carried] : costs.strategies)
    out += fmt::format("            {} {:<20} {} (vector_bytes={}, unroll={}, prefetch={}, nontemporal={})\n",
                       is_carried ? '+' : ' ', name(schedule.strategy), print(predicted), schedule.vector_bytes, schedule.unroll,
                       schedule.prefetch, schedule.nontemporal);
  out += "              (+: the kernel can run it, and a call may take it; *: the schedule has it)\n";
  for (const ExplainedCosts::Value& v : costs.values) {
    const std::string knob = v.knob + "=" + v.value;
    out += v.legal.ok() ? fmt::format("            {} {:<20} {} ({})\n", v.is_chosen ? '*' : ' ', knob, print(v.predicted), v.why)
                        : fmt::format("              {:<20} no: {}\n", knob, v.legal.message());
  }
  return out;
}

Json costs_json(const ExplainedCosts& costs) {
  if (costs.source.empty()) return nullptr;
  const auto terms = [](const Prediction& predicted) {
    Json out = {{"nanoseconds", predicted.total()}};
    for (size_t i = 0; i < kCostTerms; ++i) out[std::string(name(static_cast<CostTerm>(i)))] = predicted.nanoseconds[i];
    return out;
  };
  Json out = {{"source", costs.source}, {"threads", costs.threads}, {"strategies", Json::array()}, {"values", Json::array()}};
  for (const auto& [schedule, predicted, is_carried] : costs.strategies)
    out["strategies"].push_back({{"schedule", print(schedule)}, {"carried", is_carried}, {"predicted", terms(predicted)}});
  for (const ExplainedCosts::Value& v : costs.values) {
    Json row = {{"knob", v.knob}, {"value", v.value}, {"why", v.why}, {"chosen", v.is_chosen}, {"ok", v.legal.ok()}};
    if (v.legal.ok()) row["predicted"] = terms(v.predicted);
    if (!v.legal.ok()) row["reason"] = v.legal.message();
    out["values"].push_back(std::move(row));
  }
  return out;
}

}  // namespace strew::cli
