// Modules of JAX, spliced: with the calls as functions, strew runs what it ran before with the same bits.
#include <gmock/gmock.h>

#include <filesystem>

#include "compiler/import/import_bytes.h"
#include "strew/import.h"
#include "strew/splice.h"
#include "tests/support/golden.h"
#include "tests/support/paths.h"
#include "tests/support/programs.h"
#include "tests/support/spliced.h"

namespace strew {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> models() {
  std::vector<std::string> out;
  for (const char* const folder : {"tests/models/jax", "tests/models/jax_export"})
    for (const auto& entry : fs::directory_iterator(test::source_folder() / folder))
      if (fs::exists(entry.path() / "model.mlir")) out.push_back(folder + ("/" + entry.path().filename().string()));
  std::sort(out.begin(), out.end());
  return out;
}

class SpliceModels : public testing::TestWithParam<std::string> {};

TEST_P(SpliceModels, TheCallsDoWhatTheyStandFor) {
  const std::string text = test::read_text(test::source_folder() / GetParam() / "model.mlir");
  for (const SpliceLevel level : {SpliceLevel::operators, SpliceLevel::fused}) {
    SCOPED_TRACE(level == SpliceLevel::fused ? "fused" : "operators");
    const Expected<Spliced> spliced = splice(text, "FILE", {level, true, true});
    ASSERT_TRUE(spliced.ok()) << spliced.status().message();
    if (spliced->calls.empty()) {
      EXPECT_EQ(spliced->text, text);
      continue;
    }
    const std::string whole = test::with_functions(spliced->text);
    const Expected<Program> made = import_bytes(whole, "SPLICED.mlir", {});
    ASSERT_TRUE(made.ok()) << made.status().message() << "\n" << whole;
    const Expected<Program> wanted = import_bytes(text, "FILE.mlir", {});
    ASSERT_TRUE(wanted.ok()) << wanted.status().message();
    ASSERT_EQ(made->inputs().size(), wanted->inputs().size());
    ASSERT_EQ(made->kernels().size() > 0, true);
    const auto is_open = [](const ProgramInput& input) {
      return std::find(input.type.dims.begin(), input.type.dims.end(), kDynamic) != input.type.dims.end();
    };
    const bool has_open = std::any_of(wanted->inputs().begin(), wanted->inputs().end(), is_open);
    if (!wanted->opaques().empty() || has_open) continue;  // strew does not run the whole, or not without extents
    test::Rng rng(7);
    for (int round = 0; round < 4; ++round) {
      const std::vector<Tensor> inputs = test::random_inputs(*wanted, rng);
      ASSERT_EQ(test::difference(test::run_copy(*made, inputs, "reference"), test::run_copy(*wanted, inputs, "reference")), "")
          << "round " << round << "\n"
          << whole;
    }
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string out = info.param.substr(std::string("tests/models/").size());
  std::replace(out.begin(), out.end(), '/', '_');
  return out;
}
INSTANTIATE_TEST_SUITE_P(Jax, SpliceModels, testing::ValuesIn(models()), test_name);

}  // namespace
}  // namespace strew
