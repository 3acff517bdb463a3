// Emitted C++ is C++: every golden program of a chip in one file, checked by the host's compiler against headers of our own
// (tests/pto_cpu). And its modes are those of the tree. strew_npu_compiled runs the programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "backends/pto/program.h"
#include "compiler/pto/instructions.h"
#include "strew/text.h"
#include "tests/support/paths.h"
#include "tests/support/plan.h"

namespace strew {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Where our headers are, and which chip they are for.
std::string flags_of(pto::Chip chip) {
  const std::string root = test::source_folder().string();
  return "-I" + root + " -I" + root + "/tests/pto_cpu -D__NPU_ARCH__=" + (chip == pto::Chip::a3 ? "2201 " : "3101 ");
}

std::vector<pto::TileProgram> golden_programs(pto::Chip chip) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(test::source_folder() / "tests/golden/programs"))
    if (entry.path().extension() == ".op") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<pto::TileProgram> out;
  for (const fs::path& path : paths) {
    Expected<Op> parsed = parse_op(read(path));
    if (!parsed.ok()) continue;
    const Expected<VerifiedOp> op = VerifiedOp::of(std::move(parsed).value());
    if (!op.ok()) continue;
    const Expected<Plan> plan = canonical_plan(*op);
    pto::ProgramOptions options;
    options.output = pto::Output::pto_cpp;
    options.kernel = "k_" + path.stem().string();
    options.index_column = chip == pto::Chip::a5 && path.stem().string().starts_with("column_");
    options.through_l1 = path.stem().string().starts_with("l1_");
    Expected<pto::TileProgram> program = pto::plan_program(tensor_slots(*op), *plan, chip, options);
    if (program.ok()) out.push_back(std::move(*program));
  }
  return out;
}

class PtoCpp : public testing::TestWithParam<pto::Chip> {};

TEST_P(PtoCpp, CompilesAgainstOurHeaders) {
  const std::vector<pto::TileProgram> programs = golden_programs(GetParam());
  ASSERT_GE(programs.size(), 20u);
  const fs::path folder = fs::path(testing::TempDir()) / ("strew_cpp_" + std::string(pto::name(GetParam())));
  fs::create_directories(folder);
  std::ofstream(folder / "kernels.cc") << pto::print_cpp(programs);
  std::ofstream(folder / "host.cc") << "#define STREW_KERNEL\n#define STREW_LAUNCH(kernel, blocks, stream, ...) "
                                       "((void)(blocks), (void)(stream), kernel(__VA_ARGS__))\n"
                                    << pto::print_host(programs);
  for (const char* file : {"kernels.cc", "host.cc"}) {
    const std::string errors = (folder / "errors.txt").string();
    const std::string command = "c++ -std=c++20 -Wall -Wno-pragma-once-outside-header -fsyntax-only " + flags_of(GetParam()) +
                                (folder / file).string() + " 2> " + errors;
    EXPECT_EQ(std::system(command.c_str()), 0) << command << "\n" << read(errors).substr(0, 4000);
  }
  fs::remove_all(folder);
}

TEST_P(PtoCpp, ACompilerRefusesWhatDoesNotFit) {
  std::vector<pto::TileProgram> programs = golden_programs(GetParam());
  std::string text = pto::print_cpp({programs.back()});
  const size_t at = text.find("Coalesce::");
  ASSERT_NE(at, std::string::npos);
  text.insert(at, "No");
  const fs::path file = fs::path(testing::TempDir()) / ("strew_bad_" + std::string(pto::name(GetParam())) + ".cc");
  std::ofstream(file) << text;
  const std::string command = "c++ -std=c++20 -fsyntax-only " + flags_of(GetParam()) + file.string() + " 2> /dev/null";
  EXPECT_NE(std::system(command.c_str()), 0);
  fs::remove(file);
}

void modes_of(const std::vector<pto::Statement>& statements, std::vector<std::string>& out) {
  for (const pto::Statement& s : statements) {
    if (pto::info(s.opcode).name == "pto.mscatter" || pto::info(s.opcode).name == "pto.mgather") {
      std::string modes = s.opcode == pto::Opcode::mscatter ? "MSCATTER<" : "MGATHER<";
      for (const pto::AttributeRule& rule : pto::info(s.opcode).attributes)
        if (const std::string_view value = s.attribute(rule.name); !value.empty())
          modes += (modes.back() == '<' ? "" : ", ") + rule.in_cpp(value);
      out.push_back(modes + ">(");
    }
    modes_of(s.body, out);
  }
}

TEST_P(PtoCpp, HoldsEveryMode) {
  for (const pto::TileProgram& program : golden_programs(GetParam())) {
    std::vector<std::string> wanted;
    modes_of(program.module.functions[0].body, wanted);
    const std::string text = pto::print_cpp({program});
    size_t at = 0;
    for (const std::string& modes : wanted) {
      at = text.find(modes, at);
      ASSERT_NE(at, std::string::npos) << program.kernel << ": " << modes;
      ++at;
    }
    // Gathers have the two template arguments that every version of the headers has. A third one, which chooses how a5 gathers elements into L1, is
    // newer; without it a5 does so by its scalar unit.
    EXPECT_EQ(text.find("GatherExec"), std::string::npos) << program.kernel;
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, PtoCpp, testing::Values(pto::Chip::a3, pto::Chip::a5),
                         [](const auto& info) { return std::string(pto::name(info.param)); });

}  // namespace
}  // namespace strew
