// Golden lowered kernels: of each tests/golden/plans/NAME.op the default schedule for two threads of an x86-64-v3, and NAME.lowered, the print of the
// kernel after all passes. STREW_UPDATE_GOLDEN=1 rewrites them; look at the diff before committing it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "backends/lower/walk.h"
#include "backends/pipeline.h"
#include "tests/support/golden.h"
#include "tests/support/ops.h"
#include "tests/support/paths.h"

namespace strew {
namespace {

namespace fs = std::filesystem;
const fs::path kFolder = test::source_folder() / "tests/golden/plans";

class GoldenLowered : public testing::TestWithParam<std::string> {};

TEST_P(GoldenLowered, IsUnchanged) {
  KernelOptions options;
  options.target = *parse_target("x86-64-v3");
  options.threads = 2;
  const auto planned = plan_kernel(test::verified(test::op_of(test::read_text(kFolder / (GetParam() + ".op")))), options);
  ASSERT_TRUE(planned.ok()) << planned.status().message();
  std::string text = print(planned->schedule) + "\n";
  const auto add = [&](const Compiled& part) {
    lowered::Kernel kernel = lowered::lower_kernel(part.plan, part.schedule);
    lowered::run_passes(kernel, part.target);
    text += print(kernel);
  };
  if (planned->parts.empty()) add(*planned);
  for (const Compiled& part : planned->parts) add(part);
  const fs::path golden = kFolder / (GetParam() + ".lowered");
  if (std::getenv("STREW_UPDATE_GOLDEN") != nullptr) std::ofstream(golden) << text;
  EXPECT_EQ(test::read_text(golden), text) << "STREW_UPDATE_GOLDEN=1 rewrites " << golden;
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenLowered, testing::ValuesIn(test::stems(kFolder, ".op")),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace strew
