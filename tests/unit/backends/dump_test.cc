// STREW_DUMP=DIR: IR, assembly and object of every kernel that is built. The environment is read once, so one test takes another process.
#include "backends/dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "backends/pipeline.h"
#include "strew/log.h"
#include "strew/runtime.h"
#include "tests/support/again.h"
#include "tests/support/ops.h"
#include "tests/support/options.h"

namespace strew {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Op rows() {
  return test::op_of(
      "strew1.scatter(operand=f32[9,8] indices=i32[3] updates=f32[3,8] update_window_dims=[1] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add)");
}

KernelOptions on(BackendChoice backend) {
  KernelOptions options;
  options.backend = backend;
  options.threads = 1;
  return options;
}

std::vector<std::string> lines;

TEST(Dump, WritesThreeFilesPerKernel) {
  const std::string folder = ::testing::TempDir() + "strew_dump_" + std::to_string(getpid()) + "/made";
  std::filesystem::create_directory(std::filesystem::path(folder).parent_path());
  const auto kernel = compile(rows(), on(BackendChoice::llvm));
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  dump_kernel(folder, *kernel->backend, kernel->request(), kernel->artifact);
  const std::string path = folder + "/" + kernel->symbol;
  EXPECT_THAT(text_of(path + ".ll"), HasSubstr("define internal i32 @" + kernel->symbol + "_range("));
  EXPECT_THAT(text_of(path + ".s"), HasSubstr(kernel->symbol + "_range:"));
  EXPECT_EQ(text_of(path + ".o"), kernel->artifact.object);
  std::filesystem::remove_all(std::filesystem::path(folder).parent_path());
}

TEST(Dump, AnInterpretedKernelHasNothingToShow) {
  const std::string folder = ::testing::TempDir() + "strew_no_dump_" + std::to_string(getpid());
  const auto kernel = compile(rows(), on(BackendChoice::reference));
  ASSERT_TRUE(kernel.ok());
  dump_kernel(folder, *kernel->backend, kernel->request(), kernel->artifact);
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(Dump, AFolderThatCannotBeWrittenIsOneWarning) {
  if (!test::is_again()) {
    EXPECT_EQ(test::run_again("STREW_DUMP=/proc/strew_dump"), 0);
    return;
  }
  set_log([](LogLevel, std::string_view line) { lines.emplace_back(line); }, LogLevel::compile);
  Runtime runtime;
  for (const char* schedule : {"unroll=1", "unroll=2", "unroll=4"}) {
    KernelOptions options = on(BackendChoice::llvm);
    test::set_schedule(options, schedule);
    EXPECT_TRUE(runtime.get(rows(), options).ok());
  }
  set_log(nullptr);
  std::vector<std::string> warnings;
  for (const std::string& line : lines)
    if (line.find("STREW_DUMP") != std::string::npos) warnings.push_back(line);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], StartsWith("environment variable STREW_DUMP: /proc/strew_dump/strew_"));
  EXPECT_THAT(warnings[0], HasSubstr("cannot write: "));
}

}  // namespace
}  // namespace strew
