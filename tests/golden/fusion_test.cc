// Golden folds: tests/golden/jax/NAME.mlir is a function as JAX lowers it (lower.py writes them); NAME.fold holds the kernels it becomes and
// what became of each operation around them. STREW_UPDATE_GOLDEN=1 rewrites the .fold files; look at the diff before committing it.
//
// Every module then runs as it stands, all of it interpreted but the kernels, and folded, on the reference and compiled: the same bits,
// on indices that are in range, just outside, and at both ends of their type.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "backends/halide/can_build/can_build.h"
#include "strew/import.h"
#include "strew/text.h"
#include "tests/support/golden.h"
#include "tests/support/paths.h"
#include "tests/support/programs.h"

namespace strew {
namespace {

namespace fs = std::filesystem;
const fs::path kFolder = test::source_folder() / "tests/golden/jax";

std::vector<std::string> names() { return test::stems(kFolder, ".mlir"); }

Expected<Program> import_module(const std::string& name, bool fold) {
  ImportOptions options;
  options.fuse = fold;
  return import_file((kFolder / (name + ".mlir")).string(), options);
}

class GoldenFusion : public testing::TestWithParam<std::string> {};

TEST_P(GoldenFusion, IsUnchangedAndKeepsTheBits) {
  const auto plain = import_module(GetParam(), false), folded = import_module(GetParam(), true);
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  ASSERT_TRUE(folded.ok()) << folded.status().message();
  const fs::path golden = kFolder / (GetParam() + ".fold");
  const std::string text = test::summary(*folded);
  if (std::getenv("STREW_UPDATE_GOLDEN") != nullptr) std::ofstream(golden) << text;
  EXPECT_EQ(test::read_text(golden), text) << "STREW_UPDATE_GOLDEN=1 rewrites " << golden;

  test::Rng rng(17);
  for (int round = 0; round < 12; ++round) {
    const std::vector<Tensor> inputs = test::random_inputs(*plain, rng);
    const auto want = test::run_copy(*plain, inputs, "reference");
    ASSERT_EQ(test::difference(test::run_copy(*folded, inputs, "reference"), want), "") << "round " << round;
    if (round != 0) continue;  // compiling takes longer than running
    ASSERT_EQ(test::difference(test::run_copy(*folded, inputs, "auto"), want), "") << "compiled";
  }
}

/// What was fused into a kernel is one graph for every backend.
TEST(GoldenFusionHalide, FusedKernelsKeepTheBits) {
  if (!has_halide()) GTEST_SKIP() << "this build has no Halide (STREW_WITH_HALIDE)";
  test::Rng rng(18);
  int fused = 0;
  for (const std::string& name : names()) {
    if (!name.starts_with("fuse")) continue;
    const auto folded = import_module(name, true);
    ASSERT_TRUE(folded.ok()) << folded.status().message();
    const std::vector<Tensor> inputs = test::random_inputs(*folded, rng);
    EXPECT_EQ(test::difference(test::run_copy(*folded, inputs, "halide"), test::run_copy(*folded, inputs, "reference")), "")
        << name;
    ++fused;
  }
  EXPECT_GE(fused, 10);
}

INSTANTIATE_TEST_SUITE_P(Jax, GoldenFusion, testing::ValuesIn(names()), [](const auto& info) { return info.param; });

TEST(GoldenFusionFolder, HasFiles) { EXPECT_GE(names().size(), 100U); }

}  // namespace
}  // namespace strew
