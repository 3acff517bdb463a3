// What a caller may ask of a kernel.
#pragma once

#include <string>

namespace strew {

struct KernelOptions {
  std::string backend = "auto";  ///< or a backend's name: then anything else is an error
  std::string schedule;          ///< knobs to set over the heuristic's choice, "threads=2,unroll=8"; empty: none
  std::string target = "native";
  int threads = 0;  ///< most threads a call may use; 0: all cores
};

}  // namespace strew
