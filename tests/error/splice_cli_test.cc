// strew splice: what goes to stdout, to stderr and to files, and bad files.
#include <nlohmann/json.hpp>

#include "tests/support/cli.h"
#include "tests/support/golden.h"

namespace strew {
namespace {

using Json = nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class SpliceCli : public strew::testing::Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    text_ = test::read_text(test::source_folder() / "tests/models/jax/scatter_mul/model.mlir");
    write("model.mlir", text_);
    std::string several = text_;
    several.replace(several.find("num_partitions = 1"), 18, "num_partitions = 2");
    write("several.mlir", several);
  }
  std::string text_;
};

TEST_F(SpliceCli, TheTextGoesToStdoutAndWhatWasReplacedToStderr) {
  const strew::testing::Outcome out = strew("splice model.mlir --any-size");
  EXPECT_EQ(out.exit, 0);
  EXPECT_THAT(out.out, HasSubstr("%0 = stablehlo.custom_call @strew(%arg0, %arg1, %arg2) {"));
  EXPECT_EQ(out.err, "strew: replaced: model.mlir:3: stablehlo.scatter: main, stablehlo.scatter\n");
  EXPECT_EQ(strew("splice model.mlir --any-size --fused --numerics strew -o -").out.substr(0, 20), out.out.substr(0, 20));
}

TEST_F(SpliceCli, AFileGetsTheText) {
  const strew::testing::Outcome out = strew("splice model.mlir --any-size -o spliced.mlir");
  EXPECT_EQ(out.exit, 0);
  EXPECT_EQ(out.out, "");
  EXPECT_EQ(read("spliced.mlir"), strew("splice model.mlir --any-size").out);
  const Json json = Json::parse(success("splice model.mlir --any-size -o spliced.mlir --json"));
  EXPECT_EQ(json["calls"][0]["operations"], Json::array({"stablehlo.scatter"}));
  EXPECT_FALSE(json.contains("text"));
  EXPECT_EQ(Json::parse(success("splice model.mlir --any-size --json"))["text"], read("spliced.mlir"));
}

TEST_F(SpliceCli, WhatIsSmallStaysXlas) {
  const strew::testing::Outcome out = strew("splice model.mlir");
  EXPECT_EQ(out.exit, 0);
  EXPECT_EQ(out.out, read("model.mlir"));
  EXPECT_THAT(out.err, StartsWith("strew: kept: model.mlir:3: stablehlo.scatter: its updates are "));
}

TEST_F(SpliceCli, WhatStaysXlasIsNamedWithTheReason) {
  const strew::testing::Outcome out = strew("splice several.mlir");
  EXPECT_EQ(out.exit, 0);
  EXPECT_EQ(out.out, read("several.mlir"));
  EXPECT_THAT(out.err, AllOf(StartsWith("strew: kept: several.mlir: it is divided into 2 partitions"),
                             HasSubstr("\nstrew: nothing is replaced: the text is the file's\n")));
  const Json json = Json::parse(success("splice several.mlir --json"));
  EXPECT_EQ(json["kept"][0]["operation"], "module");
  EXPECT_EQ(json["calls"], Json::array());
}

TEST_F(SpliceCli, BadFilesAndUsage) {
  EXPECT_THAT(failure(1, "splice kv.onnx"), HasSubstr("kv.onnx"));
  EXPECT_THAT(failure(1, "splice missing.mlir"), HasSubstr("missing.mlir"));
  EXPECT_THAT(failure(1, "splice model.mlir --max-file-bytes 10"), HasSubstr("model.mlir"));
  EXPECT_THAT(failure(1, "splice model.mlir -o model.mlir/x"), HasSubstr("model.mlir/x"));
  EXPECT_THAT(failure(2, "splice model.mlir --numerics jax"), HasSubstr("--numerics"));
  EXPECT_THAT(failure(2, "splice"), HasSubstr("FILE"));
}

}  // namespace
}  // namespace strew
