// The benchmarks of the disk cache (disk.cc).
#pragma once

namespace strew::bench {

void add_disk_benchmarks();

}  // namespace strew::bench
