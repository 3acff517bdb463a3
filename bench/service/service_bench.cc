// What a program pays that asks for kernels at run time: `./dev bench service`. The files of this folder list what they
// measure; targets and results are in docs/service.md, "Figures".
#include "bench/measure.h"
#include "bench/service/disk.h"
#include "bench/service/memory.h"
#include "bench/service/service.h"

int main(int argc, char** argv) {
  strew::bench::add_first_of_process_benchmark();
  strew::bench::add_request_benchmarks();
  strew::bench::add_tier_benchmarks();
  strew::bench::add_run_many_benchmarks();
  strew::bench::add_memory_benchmarks();
  strew::bench::add_disk_benchmarks();
  return strew::bench::run_all(argc, argv);
}
