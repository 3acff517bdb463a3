// The x86-64 levels that this machine runs.
#pragma once

#include <string_view>
#include <vector>

#include "schedules/target.h"

namespace strew::test {

/// Lowest first, in the form that parse_target() reads: "x86-64", "x86-64-v2", … Empty on other architectures.
inline std::vector<std::string_view> runnable_x86_64_levels() {
  std::vector<std::string_view> levels;
  for (const std::string_view level : {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    const auto target = parse_target(level);
    if (target.ok() && machine_can_run(*target).ok()) levels.push_back(level);
  }
  return levels;
}

}  // namespace strew::test
