// The benchmarks of requests (requests.cc) and of many calls in one (run_many.cc).
#pragma once

namespace strew::bench {

void add_request_benchmarks();
void add_run_many_benchmarks();

}  // namespace strew::bench
