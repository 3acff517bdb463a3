// The benchmarks of memory (memory.cc).
#pragma once

namespace strew::bench {

void add_memory_benchmarks();

}  // namespace strew::bench
