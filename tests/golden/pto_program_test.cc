// Golden programs: each tests/golden/programs/NAME.op is canonical text; NAME.a3.pto and NAME.a5.pto hold the PTO IR planned from it, or
// the reason why there is none. STREW_UPDATE_GOLDEN=1 rewrites them; look at the diff before committing it.
//
// The real tools look at every program too, where they are: mlir-opt at the generic form, ptoas (environment variable PTOAS, or PATH) at
// the pretty one, whose C++ must hold the modes that were asked for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "backends/pto/program.h"
#include "backends/pto/text.h"
#include "compiler/op/text.h"
#include "compiler/op/verify.h"
#include "compiler/pto/instructions.h"
#include "compiler/pto/parse.h"
#include "compiler/pto/print.h"
#include "compiler/rewrite/rewrites.h"

namespace strew {
namespace {

namespace fs = std::filesystem;
const fs::path kFolder = fs::path(STREW_SOURCE_DIR) / "tests/golden/programs";

std::string read(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder))
    if (entry.path().extension() == ".op") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

Expected<pto::Program> program_of(const std::string& name, pto::Chip chip, const pto::ProgramOptions& options) {
  STREW_ASSIGN(const Op op, parse_op(read(kFolder / (name + ".op"))));
  STREW_TRY(verify(op));
  Op canonical = op;
  canonicalise(canonical);
  STREW_ASSIGN(const Plan plan, make_plan(canonical));
  return pto::plan_program(op, plan, chip, options);
}

struct Case {
  std::string name;
  pto::Chip chip;
};
std::vector<Case> cases() {
  std::vector<Case> out;
  for (const std::string& name : golden_names())
    for (const pto::Chip chip : {pto::Chip::a3, pto::Chip::a5}) out.push_back({name, chip});
  return out;
}

class GoldenProgram : public testing::TestWithParam<Case> {
 protected:
  std::string chip() const { return std::string(pto::name(GetParam().chip)); }
};

TEST_P(GoldenProgram, IsUnchanged) {
  pto::ProgramOptions options;
  options.kernel = GetParam().name;
  const Expected<pto::Program> program = program_of(GetParam().name, GetParam().chip, options);
  ASSERT_TRUE(program.ok() || program.status().code() == Code::unsupported) << program.status().message();
  std::string text = "refused: " + program.status().message() + "\n";
  if (program.ok()) {
    const Expected<std::string> printed = pto::program_text({*program}, "pto-ir");
    ASSERT_TRUE(printed.ok());
    text = *printed;
    const Expected<pto::Module> again = pto::parse(text);
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_TRUE(*again == program->module) << "the text does not read back";
  }
  const fs::path golden = kFolder / (GetParam().name + "." + chip() + ".pto");
  if (std::getenv("STREW_UPDATE_GOLDEN") != nullptr) std::ofstream(golden) << text;
  EXPECT_EQ(read(golden), text) << "STREW_UPDATE_GOLDEN=1 rewrites " << golden;
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenProgram, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name + "_" + std::string(pto::name(info.param.chip)); });

TEST(GoldenProgramFolder, HasFiles) { EXPECT_GE(golden_names().size(), 12u); }

}  // namespace
}  // namespace strew
