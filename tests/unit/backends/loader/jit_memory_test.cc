// The memory of compiled code: never writable and executable at once, as docs/security.md says.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "strew/runtime.h"
#include "tests/support/ops.h"

namespace strew {
namespace {

/// The permissions of the mapping that the address lies in.
std::string permissions_of(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uintptr_t start = 0, end = 0;
    char text[5] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &start, &end, text) == 3 && start <= at && at < end) return text;
  }
  return "none";
}

int mappings_with(const std::string& permissions) {
  std::ifstream maps("/proc/self/maps");
  int found = 0;
  for (std::string line; std::getline(maps, line);) found += line.find(" " + permissions) != std::string::npos;
  return found;
}

TEST(JitMemory, IsNeverWritableAndExecutable) {
  Runtime runtime;
  std::vector<Kernel> kernels;
  for (const char* combiner : {"add", "max", "assign"}) {
    const auto kernel =
        runtime.get(test::op_of("strew1.scatter(operand=f32[64,16] indices=i32[8] updates=f32[8,16] "
                                "update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
                                "index_vector_dim=1 combiner=" +
                                std::string(combiner) + ")"),
                    {});
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    kernels.push_back(*kernel);
    EXPECT_EQ(mappings_with("rwx"), 0);
    EXPECT_EQ(mappings_with("-wx"), 0);
  }
  for (const Kernel& kernel : kernels) {
    EXPECT_EQ(permissions_of(reinterpret_cast<const void*>(kernel.entry(STREW_ENTRY_range))), "r-xp");
    EXPECT_EQ(permissions_of(&kernel.descriptor()), "r--p");
  }
}

}  // namespace
}  // namespace strew
