// What a caller may ask of a kernel.
#pragma once

#include <string>

namespace strew::inline v0 {

struct KernelOptions {
  std::string backend = "auto";  ///< or a backend's name: then anything else is an error
  std::string schedule;          ///< knobs to set over the heuristic's choice, "strategy=owner,unroll=8"; empty: none
  std::string target = "native";
  /// The most threads that a call may use, 0: all cores. `threads=N` in the schedule's text wins. A property of the handle, not of the code.
  int threads = 0;
};

}  // namespace strew::inline v0
