// Golden descriptors: tests/golden/descriptors/NAME.op is canonical text, NAME.json is what `strew explain --json` prints of its descriptor for
// target x86-64-v3, the same wherever the test runs. STREW_UPDATE_GOLDEN=1 rewrites the .json files; look at the diff before committing it.
#include <nlohmann/json.hpp>

#include "tests/support/cli.h"
#include "tests/support/golden.h"

namespace strew::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

fs::path folder() { return test::source_folder() / "tests/golden/descriptors"; }
std::vector<std::string> names() { return test::stems(folder(), ".op"); }

class GoldenDescriptor : public Cli, public ::testing::WithParamInterface<std::string> {};

/// Numbers that belong to the version of the generator, not to the descriptor: symbols are hashes that hold it.
void blank(Json& descriptor) {
  EXPECT_THAT(descriptor["name"].get<std::string>(), ::testing::MatchesRegex("strew_[0-9a-f]+"));
  descriptor["name"] = "";
  if (descriptor.contains("parts"))
    for (Json& part : descriptor["parts"]) blank(part);
}

TEST_P(GoldenDescriptor, IsUnchanged) {
  write("kernel.strew", test::read_text(folder() / (GetParam() + ".op")));
  Json kernel = Json::parse(success("explain kernel.strew --json --target x86-64-v3 --backend llvm"))["kernels"][0];
  EXPECT_EQ(kernel["identity"], kernel["descriptor"]["identity"]);
  EXPECT_THAT(success("explain kernel.strew --all --target x86-64-v3 --backend llvm"),
              ::testing::HasSubstr("descriptor  " + kernel["descriptor"]["name"].get<std::string>() + ": tensors "));
  blank(kernel["descriptor"]);
  const std::string text = kernel["descriptor"].dump(2) + "\n";
  const fs::path golden = folder() / (GetParam() + ".json");
  if (std::getenv("STREW_UPDATE_GOLDEN") != nullptr) std::ofstream(golden) << text;
  EXPECT_EQ(test::read_text(golden), text) << "STREW_UPDATE_GOLDEN=1 rewrites " << golden;
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenDescriptor, ::testing::ValuesIn(names()), [](const auto& info) { return info.param; });

TEST_F(Cli, AnInterpretedKernelHasADescriptorWithoutEntries) {
  const Json kernel = Json::parse(success("explain add.strew --json --backend reference"))["kernels"][0];
  EXPECT_EQ(kernel["descriptor"]["entries"], Json::array());
  EXPECT_THAT(success("explain add.strew --all --backend reference"), ::testing::HasSubstr("interpreted\n"));
}

}  // namespace
}  // namespace strew::testing
