// See stages.h. Tested by tests/error/cli_test.cc.
#include "tools/strew/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "backends/lower/walk.h"

namespace strew::cli {
namespace {

constexpr std::string_view kLowered = "lowered";

std::string lowered_text(const Compiled& stages, std::string_view last) {
  lowered::Kernel kernel = lowered::lower_kernel(stages.plan, stages.schedule);
  for (const lowered::Pass& pass : lowered::passes()) {
    if (last == "none") break;
    pass.run(kernel, stages.target);
    if (pass.name == last) break;
  }
  return print(kernel);
}

}  // namespace

std::vector<std::string> stage_names() {
  std::vector<std::string> names = {"op", "plan", std::string(kLowered), fmt::format("{}:none", kLowered)};
  for (const lowered::Pass& pass : lowered::passes()) names.push_back(fmt::format("{}:{}", kLowered, pass.name));
  return names;
}

bool is_stage(const std::string& stage) {
  const std::vector<std::string> names = stage_names();
  return std::find(names.begin(), names.end(), stage) != names.end();
}

Expected<std::string> stage_text(const Compiled& stages, const std::string& stage) {
  if (stage == "op") return stages.op_text + "\n";
  if (stage == "plan") return print(stages.plan);
  if (is_npu(stages.target))
    return unsupported("--emit " + stage + ": programs for NPUs are written from the plan; --emit plan shows it");
  STREW_TRY(stages.scheduled);
  const std::string_view pass = std::string_view(stage).substr(std::min(stage.size(), kLowered.size() + 1));
  if (stages.parts.empty()) return lowered_text(stages, pass);
  std::string out;
  for (const Compiled& part : stages.parts) out += part.op_text + "\n" + lowered_text(part, pass);
  return out;
}

std::string indented(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out += "    " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

std::string rewrites_text(const Compiled& stages) {
  if (stages.applied.empty()) return "  rewrites    none\n";
  std::string out;
  for (const Rewrite* rewrite : stages.applied) {
    out += fmt::format("  {:<11} {}: {}\n", out.empty() ? "rewrites" : "", rewrite->name, rewrite->what);
  }
  return out + fmt::format("  canonical   {}\n", print(stages.canonical));
}

nlohmann::ordered_json rewrites_json(const Compiled& stages) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Rewrite* rewrite : stages.applied) out.push_back({{"name", rewrite->name}, {"what", rewrite->what}});
  return out;
}

}  // namespace strew::cli
