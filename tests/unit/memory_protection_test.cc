// Memory of compiled kernels: while kernels of every compiling backend live in the process, no mapping is both writable and executable.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "backends/halide/can_build/backend.h"
#include "runtime/kernel.h"
#include "tests/support/ops.h"

namespace strew {
namespace {

TEST(MemoryProtection, NothingIsWritableAndExecutable) {
  Runtime runtime;
  std::vector<Kernel> kernels;
  for (const char* backend : {"llvm", "halide"}) {
    if (backend == std::string("halide") && !has_halide()) continue;
    KernelOptions options;
    options.backend = backend;
    const auto kernel = runtime.get(test::op_of("strew1.scatter(operand=f32[4,20] indices=i32[3] updates=f32[3,20] "
                                                "update_window_dims=[1] inserted_window_dims=[0] "
                                                "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add)"),
                                    options);
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    kernels.push_back(*kernel);
  }
  std::ifstream maps("/proc/self/maps");
  ASSERT_TRUE(maps);
  bool has_our_code = false;
  const auto code = reinterpret_cast<uintptr_t>(kernels[0].range_entry());
  for (std::string line; std::getline(maps, line);) {
    const size_t space = line.find(' ');
    const std::string flags = line.substr(space + 1, 4);
    EXPECT_FALSE(flags[1] == 'w' && flags[2] == 'x') << line;
    const uintptr_t begin = std::stoull(line, nullptr, 16), end = std::stoull(line.substr(line.find('-') + 1), nullptr, 16);
    if (begin <= code && code < end) has_our_code = flags == "r-xp";
  }
  EXPECT_TRUE(has_our_code) << "the kernel's code lies in no mapping r-xp";
}

}  // namespace
}  // namespace strew
