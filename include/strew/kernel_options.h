// KernelOptions: how Runtime::get compiles a kernel, and how many threads its calls may use.
#pragma once

#include <string>

namespace strew::inline v0 {

struct KernelOptions {
  /// "auto": the first backend that can build the op; or the name of one (docs/backends.md), and get() fails if it cannot.
  std::string backend = "auto";
  std::string schedule;           ///< knobs that replace the heuristic's choice, "strategy=owner,unroll=8"; empty: none
  std::string target = "native";  ///< parse_target() reads it (target.h); this machine must have the target's features
  /// The most threads that a call may use; 0: as many as the runtime's executor has. `threads=N` in `schedule` takes
  /// precedence. The number belongs to the handle: handles with different numbers can share code.
  int threads = 0;
};

}  // namespace strew::inline v0
