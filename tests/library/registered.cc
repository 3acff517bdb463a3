// A program with the compiler and the library of kernels.json: its runtime answers requests with the library's kernels. Exit: 0 right.
#include <cstdio>

#include "strew/strew.hpp"
#include "test_kernels.h"

int main() {
  strew::Runtime runtime;
  strew_library other = *test_kernels();
  other.version = STREW_LIBRARY_VERSION + 1;
  if (runtime.register_library(other).code() != strew::Code::invalid_argument) return 1;
  if (const strew::Status status = runtime.register_library(*test_kernels()); !status.ok()) {
    std::printf("%s\n", status.message().c_str());
    return 1;
  }
  strew_variant baseline = STREW_VARIANT_INIT;
  if (strew_library_variant(test_kernels(), TEST_KERNELS_add_rows_f32_4, 0, &baseline) != nullptr) return 1;
  const auto op = strew::parse_op(baseline.identity);
  const auto kernel = op.ok() ? runtime.get(*op) : op.status();
  if (!kernel.ok()) {
    std::printf("%s\n", kernel.status().message().c_str());
    return 1;
  }
  std::printf("%s\n", print(kernel->target()).c_str());
  return runtime.stats().built == 0 ? 0 : 1;
}
