// Golden plans: each tests/golden/plans/NAME.op is canonical text; NAME.plan holds the rewrites that apply and the plan's print.
// STREW_UPDATE_GOLDEN=1 rewrites the .plan files; look at the diff before committing it.
#include "compiler/plan/plan.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "compiler/rewrite/rewrites.h"
#include "strew/text.h"
#include "strew/verify.h"
#include "tests/support/golden.h"
#include "tests/support/ops.h"
#include "tests/support/paths.h"

namespace strew {
namespace {

namespace fs = std::filesystem;
const fs::path kFolder = test::source_folder() / "tests/golden/plans";

std::vector<std::string> golden_names() { return test::stems(kFolder, ".op"); }

class GoldenPlan : public testing::TestWithParam<std::string> {};

TEST_P(GoldenPlan, IsUnchanged) {
  const auto canonical = canonicalise(test::verified(test::op_of(test::read_text(kFolder / (GetParam() + ".op")))));
  ASSERT_TRUE(canonical.ok()) << canonical.status().message();
  std::string text;
  for (const Rewrite* rewrite : canonical->applied) text += "rewrite " + std::string(rewrite->name) + "\n";
  text += print(make_plan(canonical->op));
  const fs::path golden = kFolder / (GetParam() + ".plan");
  if (std::getenv("STREW_UPDATE_GOLDEN") != nullptr) std::ofstream(golden) << text;
  EXPECT_EQ(test::read_text(golden), text) << "STREW_UPDATE_GOLDEN=1 rewrites " << golden;
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenPlan, testing::ValuesIn(golden_names()), [](const auto& info) { return info.param; });

TEST(GoldenPlanFolder, HasFiles) { EXPECT_GE(golden_names().size(), 12u); }

}  // namespace
}  // namespace strew
