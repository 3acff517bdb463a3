// LinkedFunction: a function of generated code and where it lies, for the tools that show names instead of addresses (perf_map.h, jitdump.h).
#pragma once

#include <cstddef>
#include <string>

namespace strew::inline v0 {

struct LinkedFunction {
  std::string name;
  const char* code = nullptr;
  size_t bytes = 0;
};

}  // namespace strew::inline v0
