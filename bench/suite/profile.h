// One way of a case, alone and over and over, for a profiler to look at: bench/profile.py.
#pragma once

#include <string>

namespace strew::bench {

struct ProfileRequest {
  std::string name;  ///< of the case
  std::string way;   ///< "strew", or "hand": the fastest hand-written one
  int threads = 1;
  double seconds = 3;
  std::string schedule;  ///< knobs to set over the heuristic's choice
  std::string code;      ///< file that gets the bytes of the functions named in perf's map of this process; "" for none
};

/// Prints a line of JSON: the way's name, nanoseconds per call, and when it began and ended on CLOCK_MONOTONIC. Exit status.
int profile(const ProfileRequest& request);

}  // namespace strew::bench
