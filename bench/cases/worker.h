// A benchmark program as one more peer of bench/peers/peers_bench.py: JSON requests on stdin, one reply each on stdout.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "strew/status.h"
#include "tune/turns.h"

namespace strew::bench {

/// The ways of a case that a worker measures; none: the worker has no such case.
struct Prepared {
  std::vector<Way> ways;
  int64_t sets = 1;  ///< of indices, round which calls go
};

struct Worker {
  std::string name;
  std::function<Expected<Prepared>(const std::string& name)> prepare;  ///< checked: a failure says why the case is not measured
  std::function<void()> finish = [] {};                                ///< the case is done with
  std::function<void()> wake = [] {}, sleep = [] {};                   ///< before and after each request
};

/// Ends with the requests; the exit status.
int serve(const Worker& worker);

}  // namespace strew::bench
