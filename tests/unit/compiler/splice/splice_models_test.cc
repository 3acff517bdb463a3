// Modules of JAX, spliced: with the calls as functions, strew runs what it ran before with the same bits.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "compiler/import/import_bytes.h"
#include "strew/import.h"
#include "strew/splice.h"
#include "tests/support/golden.h"
#include "tests/support/paths.h"
#include "tests/support/programs.h"
#include "tests/support/rng.h"
#include "tests/unit/compiler/splice/splice_testing.h"

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

class SpliceModels : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { text_ = test::read_text(test::source_folder() / GetParam() / "model.mlir"); }

  /// Runs the text and what became of it, if strew runs the whole.
  void compare(const std::string& spliced) const {
    const std::string whole = test::with_functions(spliced);
    const Expected<Program> made = import_bytes(whole, "SPLICED.mlir", {}), wanted = import_bytes(text_, "FILE.mlir", {});
    ASSERT_TRUE(made.ok()) << made.status().message() << "\n" << whole;
    ASSERT_TRUE(wanted.ok()) << wanted.status().message();
    ASSERT_EQ(made->inputs().size(), wanted->inputs().size());
    const auto is_open = [](const ProgramInput& input) {
      return std::find(input.type.dims.begin(), input.type.dims.end(), kDynamic) != input.type.dims.end();
    };
    if (!wanted->opaques().empty() || std::any_of(wanted->inputs().begin(), wanted->inputs().end(), is_open)) return;
    test::Rng rng(7);
    for (int round = 0; round < 4; ++round) {
      const std::vector<Tensor> inputs = test::random_inputs(*wanted, rng);
      ASSERT_EQ(test::difference(test::run_copy(*made, inputs, "reference"), test::run_copy(*wanted, inputs, "reference")), "")
          << "round " << round << "\n"
          << whole;
    }
  }

  std::string text_;
};

TEST_P(SpliceModels, TheCallsDoWhatTheyStandFor) {
  for (const SpliceLevel level : {SpliceLevel::operators, SpliceLevel::fused}) {
    SCOPED_TRACE(level == SpliceLevel::fused ? "fused" : "operators");
    const Expected<Spliced> spliced = splice(text_, "FILE", {level, true, true});
    ASSERT_TRUE(spliced.ok()) << spliced.status().message();
    if (spliced->calls.empty()) {
      EXPECT_EQ(spliced->text, text_);
    }
    compare(spliced->text);
  }
}

/// Parts that no policy chose: of whatever the host leaves to strew at random.
TEST_P(SpliceModels, AnyPartsMayBeCalls) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(seed);
    test::Rng rng(seed);
    std::map<int, bool> answers;
    PartitionOptions options;
    options.needs_kernel = true;
    options.kernels_only = seed == 1;
    options.join = seed == 2;
    options.runnable = [&](const Program&, int value) {
      return answers.try_emplace(value, rng.below(8) != 0).first->second || seed < 2;
    };
    const Expected<std::string> text = rewritten(text_, options);
    ASSERT_TRUE(text.ok()) << text.status().message();
    compare(*text);
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
