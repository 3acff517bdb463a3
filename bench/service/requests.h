// The benchmarks of requests (requests.cc).
#pragma once

namespace strew::bench {

void add_request_benchmarks();

}  // namespace strew::bench
