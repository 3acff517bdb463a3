// See stages.h. Tested by tests/error/cli_test.cc.
#include "tools/strew/stages.h"

#include <fmt/format.h>

#include <algorithm>

namespace strew::cli {

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
