// Ahead of time: what `strew compile --emit obj` writes is one object that a C program links and calls by include/strew/abi.h alone, from
// either compiler, and that exports the kernel's descriptor and nothing else. The C compiler is the machine's `cc`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "backends/halide/can_build/can_build.h"
#include "backends/pipeline.h"
#include "strew/text.h"
#include "tests/support/object_symbols.h"
#include "tests/support/ops.h"
#include "tests/support/options.h"
#include "tests/support/paths.h"

namespace strew {
namespace {

constexpr const char* kRows =
    "strew1.scatter(operand=f32[4,20] indices=i32[3] updates=f32[3,20] update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add oob=skip_window init=in_place)";

// Rows 2, 2 and 9 (outside) of ones onto a table of its row numbers.
constexpr const char* kProgram = R"(
#include <stdio.h>
#include "strew/abi.h"
extern const strew_kernel KERNEL;
int main(void) {
  float table[4 * 20], updates[3 * 20];
  int32_t indices[3] = {2, 9, 2};
  for (int i = 0; i < 80; ++i) table[i] = (float)(i / 20);
  for (int i = 0; i < 60; ++i) updates[i] = 1.0f;
  void* const data[4] = {table, 0, indices, updates};
  strew_args args = {0};
  strew_fault fault;
  args.abi = STREW_ABI_VERSION;
  args.data = data;
  args.w1 = 20;
  if (KERNEL.entries[STREW_ENTRY_range](&args, 0, 3, &fault) != STREW_OK) return 2;
  for (int row = 0; row < 4; ++row) printf("%g %g ", table[20 * row], table[20 * row + 19]);
  return 0;
}
)";

class Object : public testing::TestWithParam<const char*> {};

TEST_P(Object, LinksIntoACProgram) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "kernels call the sanitizer's runtime";
#endif
  const std::string backend = GetParam();
  if (backend == "halide" && !has_halide()) GTEST_SKIP() << "this build has no Halide (STREW_WITH_HALIDE)";
  if (std::system("cc --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no C compiler";
  const auto kernel =
      compile(test::op_of(kRows), {.backend = test::backend(backend), .target = test::target("x86-64-v3"), .threads = 1});
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  const std::string folder = testing::TempDir() + "strew_object_" + backend;
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/rows.o", std::ios::binary) << kernel->artifact.object;
  std::ofstream(folder + "/main.c") << kProgram;
  const std::string build = "cc -DKERNEL=" + kernel->symbol + " -I '" + test::source_folder().string() + "/include' -o '" +
                            folder + "/main' '" + folder + "/main.c' '" + folder + "/rows.o'";
  ASSERT_EQ(std::system((build + " 2>'" + folder + "/err'").c_str()), 0) << std::ifstream(folder + "/err").rdbuf();
  ASSERT_EQ(std::system(("'" + folder + "/main' >'" + folder + "/out'").c_str()), 0);
  std::ostringstream out;
  out << std::ifstream(folder + "/out").rdbuf();
  EXPECT_EQ(out.str(), "0 0 1 1 4 4 3 3 ");
  std::filesystem::remove_all(folder);
}

TEST_P(Object, ExportsItsDescriptorAlone) {
  const std::string backend = GetParam();
  if (backend == "halide" && !has_halide()) GTEST_SKIP() << "this build has no Halide (STREW_WITH_HALIDE)";
  std::string wide = kRows, error = kRows;
  for (size_t at = wide.find("f32"); at != std::string::npos; at = wide.find("f32")) wide.replace(at, 3, "f16");
  wide.insert(wide.size() - 1, " accumulate=wide");
  error.replace(error.find("skip_window"), 11, "error");
  for (const std::string& text : {std::string(kRows), wide, error}) {
    for (const char* schedule : {"", "strategy=owner"}) {
      KernelOptions options{.backend = test::backend(backend), .target = test::target("x86-64-v3")};
      test::set_schedule(options, schedule);
      const auto kernel = compile(test::op_of(text), options);
      ASSERT_TRUE(kernel.ok()) << kernel.status().message();
      EXPECT_EQ(kernel->parts.empty(), text != wide);
      EXPECT_THAT(test::exported_symbols(kernel->artifact.object), testing::ElementsAre(kernel->symbol)) << text << schedule;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, Object, testing::Values("llvm", "halide"), [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace strew
