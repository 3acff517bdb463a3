// The benchmarks of requests (requests.cc), of many calls in one (run_many.cc), and of tiers and shared kernels (tiers.cc).
#pragma once

#include "strew/options.h"

namespace strew::bench {

/// Every request gets a kernel of its own extents, so that as many kernels are built as the benchmark asks for.
inline Options exact_options() {
  Options options = Options::from_environment();
  options.exact_shapes = 0;
  return options;
}

void add_request_benchmarks();
void add_run_many_benchmarks();
/// The first one: its child processes must not inherit what a process has that has compiled.
void add_first_of_process_benchmark();
void add_tier_benchmarks();

}  // namespace strew::bench
