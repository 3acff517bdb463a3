// Golden programs: each tests/golden/programs/NAME.op is canonical text, which is planned for both chips and all outputs.
//
// Every program is printed, read back and simulated against the reference. About 40 of the texts are also compared: NAME.CHIP.pto (PTO IR),
// .cpp (pto-isa C++) or .as (PTO-AS); README.md beside them says what each shows. refusals.txt has a line for every op, chip and output that
// is refused, and no other. STREW_UPDATE_GOLDEN=1 rewrites the texts that exist and refusals.txt; look at the diff before committing it. A new
// text begins as an empty file with a row in README.md.
//
// mlir-opt reads the generic form of every program, where it is installed; the real ptoas, the pretty one (tests/ptoas/programs_test.cc).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "backends/pto/program.h"
#include "compiler/import/pto/import.h"
#include "compiler/pto/instructions.h"
#include "compiler/pto/parse.h"
#include "compiler/pto/print.h"
#include "strew/text.h"
#include "strew/verify.h"
#include "tests/differential/npu/npu_check.h"
#include "tests/differential/op_blueprint.h"
#include "tests/support/golden.h"
#include "tests/support/golden_programs.h"
#include "tests/support/paths.h"
#include "tests/support/plan.h"

namespace strew {
namespace {

namespace fs = std::filesystem;
const fs::path kFolder = test::source_folder() / "tests/golden/programs";

std::vector<std::string> golden_names() { return test::stems(kFolder, ".op"); }

Expected<pto::TileProgram> plan_of(const Op& op, pto::Chip chip, const pto::ProgramOptions& options) {
  STREW_ASSIGN(const VerifiedOp verified, VerifiedOp::of(op));
  STREW_ASSIGN(const Plan plan, canonical_plan(verified));
  return pto::plan_program(tensor_slots(verified), plan, chip, options);
}

Expected<pto::TileProgram> program_of(const std::string& name, pto::Chip chip, const pto::ProgramOptions& options) {
  return test::golden_program(kFolder, name, chip, options);
}

pto::ProgramOptions options_of(const std::string& name, pto::Chip chip) { return test::golden_options(name, chip); }

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

/// The outputs, and how the names of their golden texts end.
constexpr std::array<std::pair<pto::Output, const char*>, 3> kOutputs = {
    {{pto::Output::pto_ir, ".pto"}, {pto::Output::pto_cpp, ".cpp"}, {pto::Output::pto_as, ".as"}}};

bool updates_golden() { return std::getenv("STREW_UPDATE_GOLDEN") != nullptr; }

class GoldenProgram : public testing::TestWithParam<Case> {};

/// For every output: a program's text reads back to the same module, and equals the golden text where there is one.
TEST_P(GoldenProgram, IsUnchanged) {
  const auto& [name, chip] = GetParam();
  for (const auto& [output, ending] : kOutputs) {
    const Expected<pto::TileProgram> program = program_of(name, chip, test::golden_options(name, chip, output));
    const fs::path golden = kFolder / (name + "." + std::string(pto::name(chip)) + ending);
    if (!program.ok()) {
      EXPECT_EQ(program.status().code(), Code::unsupported) << program.status().message();
      EXPECT_FALSE(fs::exists(golden)) << golden << ", but: " << program.status().message();
      continue;
    }
    const Expected<std::string> text = pto::program_text({*program}, pto::name(output));
    ASSERT_TRUE(text.ok()) << text.status().message();
    if (output != pto::Output::pto_cpp) {
      const Expected<pto::Module> again = pto::parse(*text);
      ASSERT_TRUE(again.ok()) << pto::name(output) << ": " << again.status().message();
      EXPECT_TRUE(*again == program->module) << pto::name(output) << ": the text does not read back";
    }
    if (!fs::exists(golden)) continue;
    if (updates_golden()) std::ofstream(golden) << *text;
    EXPECT_EQ(test::read_text(golden), *text) << "STREW_UPDATE_GOLDEN=1 rewrites " << golden;
  }
}

/// C++ of l1_*: rows go through L1; C++ of nz_* for a3: tables are in fractals; all other C++ has tables in rows.
TEST_P(GoldenProgram, HasItsLayoutInCpp) {
  const auto& [name, chip] = GetParam();
  const Expected<pto::TileProgram> program = program_of(name, chip, test::golden_options(name, chip, pto::Output::pto_cpp));
  EXPECT_EQ(program.ok(), !name.starts_with("refused_")) << program.status().message();
  if (!program.ok()) return;
  const bool nz = name.starts_with("nz_") && chip == pto::Chip::a3;
  EXPECT_EQ(program->tiles.layout, name.starts_with("l1_") ? "l1" : nz ? "nz" : "nd");
}

/// refusals.txt: one line per op, chip and output that is refused, with the message, so that no op silently becomes refused.
TEST(GoldenProgramFolder, RefusalsAreListed) {
  std::string refusals;
  for (const auto& [name, chip] : cases()) {
    for (const auto& [output, ending] : kOutputs) {
      const Expected<pto::TileProgram> program = program_of(name, chip, test::golden_options(name, chip, output));
      if (program.ok()) continue;
      refusals += name + " " + std::string(pto::name(chip)) + " " + std::string(pto::name(output)) + ": ";
      refusals += program.status().message() + "\n";
    }
  }
  const fs::path golden = kFolder / "refusals.txt";
  if (updates_golden()) std::ofstream(golden) << refusals;
  EXPECT_EQ(test::read_text(golden), refusals) << "STREW_UPDATE_GOLDEN=1 rewrites " << golden;
}

/// README.md has a row for every text, with the names in its first column; each is the text of an op for a chip.
TEST(GoldenProgramFolder, ReadmeListsEveryText) {
  std::set<std::string> possible, there, listed;
  for (const auto& [name, chip] : cases())
    for (const auto& [output, ending] : kOutputs) possible.insert(name + "." + std::string(pto::name(chip)) + ending);
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    const std::string file = entry.path().filename().string();
    if (file == "README.md" || file == "refusals.txt" || entry.path().extension() == ".op") continue;
    EXPECT_TRUE(possible.contains(file)) << file << " is compared with nothing";
    there.insert(file);
  }
  std::istringstream lines(test::read_text(kFolder / "README.md"));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| ") || line.starts_with("| text")) continue;
    std::istringstream names(line.substr(2, line.find(" | ", 2) - 2));
    for (std::string name; names >> name;) EXPECT_TRUE(listed.insert(name).second) << name << " is listed twice";
  }
  EXPECT_EQ(listed, there);
  EXPECT_GE(there.size(), 40u);
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenProgram, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name + "_" + std::string(pto::name(info.param.chip)); });

bool is_large(const std::string& name) {
  return name.starts_with("elem_large") || name == "gather_elem_large" || name == "elem_big";
}

class GoldenOp : public testing::TestWithParam<std::string> {};

/// For both chips, several outputs, core counts and interleavings (the checker draws them): read back, verified, simulated.
TEST_P(GoldenOp, SimulatesToTheReferencesBits) {
  constexpr int64_t kMostMoved = 8'000;
  const Expected<Op> op = parse_op(test::read_text(kFolder / (GetParam() + ".op")));
  ASSERT_TRUE(op.ok()) << op.status().message();
  test::NpuChecker checker(false, "", kMostMoved);
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    const std::optional<test::Failure> failure = checker.check(test::blueprint_of(*op), seed);
    EXPECT_FALSE(failure) << "seed " << seed << ": " << failure->call << "\n" << failure->what << "\n" << checker.program();
  }
}

/// As `strew compile` writes it, for both chips: flags, tiles of the planner's height, and C++ where ptoas does not take it. Options drawn
/// at random above are seldom these. The large series has its own test below.
TEST_P(GoldenOp, SimulatesAsItIsCompiled) {
  constexpr int64_t kMostMoved = 40'000;
  if (!test::is_golden_run(GetParam()) || is_large(GetParam())) return;
  const Expected<Op> op = parse_op(test::read_text(kFolder / (GetParam() + ".op")));
  ASSERT_TRUE(op.ok()) << op.status().message();
  for (const pto::Chip chip : {pto::Chip::a3, pto::Chip::a5}) {
    test::NpuChecker checker(false, "", kMostMoved);
    for (const pto::Output output : {pto::Output::pto_ir, pto::Output::pto_cpp}) {
      if (checker.tally().planned > 0) break;
      test::NpuWish wish;
      wish.chip = chip;
      wish.options.output = output;
      wish.options.blocks = 3;
      wish.options.non_negative = options_of(GetParam(), chip).non_negative;
      // Policy undefined takes no indices out of bounds, which most patterns have.
      for (uint64_t seed = 1; seed <= 20 && checker.tally().data_sets == 0; ++seed) {
        const std::optional<test::Failure> failure = checker.check(test::blueprint_of(*op), seed, wish);
        EXPECT_FALSE(failure) << "seed " << seed << ": " << failure->call << "\n" << failure->what << "\n" << checker.program();
        if (checker.tally().planned == 0) break;
      }
    }
    EXPECT_EQ(checker.tally().data_sets > 0, !GetParam().starts_with("refused_")) << pto::name(chip);
  }
}

/// More than is tried above, once.
TEST(GoldenProgram, LargeOnesSimulateToTheReferencesBits) {
  for (const std::string& name : golden_names()) {
    if (!is_large(name)) continue;
    const Expected<Op> op = parse_op(test::read_text(kFolder / (name + ".op")));
    ASSERT_TRUE(op.ok()) << op.status().message();
    test::NpuChecker checker(false, "", 100'000);
    const bool numbered = name.back() >= '0' && name.back() <= '9';  // one of a series: a chip each, in turn
    for (const pto::Chip chip : {pto::Chip::a3, pto::Chip::a5}) {
      if (numbered && (name[name.size() - 3] % 2 == 0) != (chip == pto::Chip::a3)) continue;
      test::NpuWish wish;
      wish.chip = chip;
      wish.options.blocks = 3;
      // Policy undefined takes no indices out of bounds, which most patterns have.
      const int64_t before = checker.tally().data_sets;
      for (uint64_t seed = 1; seed <= 20 && checker.tally().data_sets == before; ++seed) {
        const std::optional<test::Failure> failure = checker.check(test::blueprint_of(*op), seed, wish);
        EXPECT_FALSE(failure) << name << ": " << failure->call << "\n" << failure->what;
      }
      EXPECT_GT(checker.tally().data_sets, before) << name;
    }
  }
}

/// Index tiles as columns (a5), matrices in fractals (a3, as C++) and gathers through L1 (both, as C++), which the checker draws seldom.
TEST_P(GoldenOp, SimulatesInItsOwnLayout) {
  const bool column = GetParam().starts_with("column_"), fractal = GetParam().starts_with("nz_"),
             l1 = GetParam().starts_with("l1_");
  if (!column && !fractal && !l1) return;
  const Expected<Op> op = parse_op(test::read_text(kFolder / (GetParam() + ".op")));
  ASSERT_TRUE(op.ok()) << op.status().message();
  test::NpuChecker checker(false);
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    test::NpuWish wish;
    wish.chip = column || (l1 && seed % 2 == 0) ? pto::Chip::a5 : pto::Chip::a3;
    wish.options.index_column = column;
    wish.options.through_l1 = l1;
    wish.options.output = fractal || l1 || seed % 2 == 0 ? pto::Output::pto_cpp : pto::Output::pto_ir;
    wish.options.blocks = static_cast<int>(seed);
    const std::optional<test::Failure> failure = checker.check(test::blueprint_of(*op), seed, wish);
    EXPECT_FALSE(failure) << "seed " << seed << ": " << failure->call << "\n" << failure->what << "\n" << checker.program();
  }
  EXPECT_EQ(checker.tally().planned, 6);
  EXPECT_GT(checker.tally().data_sets, 0);
  for (const auto& [kind, count] : checker.tally().kinds)
    EXPECT_NE(kind.find(column ? "by a column" : l1 ? "through l1" : "in fractals"), std::string::npos) << kind;
}

TEST(GoldenProgram, StraightLinesSimulateToTheReferencesBits) {
  int64_t planned = 0, ran = 0;
  for (const std::string& name : golden_names()) {
    const Expected<Op> op = parse_op(test::read_text(kFolder / (name + ".op")));
    ASSERT_TRUE(op.ok()) << op.status().message();
    for (const pto::Chip chip : {pto::Chip::a3, pto::Chip::a5}) {
      test::NpuChecker checker(false);
      test::NpuWish wish;
      wish.chip = chip;
      wish.options.output = pto::Output::pto_as;
      // Policy undefined takes no indices out of bounds, which most patterns have.
      for (uint64_t seed = 1; seed <= 4 && checker.tally().data_sets == 0; ++seed) {
        const std::optional<test::Failure> failure = checker.check(test::blueprint_of(*op), seed, wish);
        EXPECT_FALSE(failure) << name << ": " << failure->call << "\n" << failure->what << "\n" << checker.program();
        if (checker.tally().planned == 0) break;
      }
      planned += checker.tally().planned > 0 ? 1 : 0;
      ran += checker.tally().data_sets > 0 ? 1 : 0;
    }
  }
  // Those that do not run are steps, which their caller repeats (tests/unit/backends/pto/pto_cores_test.cc), and ops that move much.
  std::printf("%d of %d straight lines ran\n", static_cast<int>(ran), static_cast<int>(planned));
  EXPECT_GE(planned, 300);
  EXPECT_GE(ran, 270);
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenOp, testing::ValuesIn(golden_names()), [](const auto& info) { return info.param; });

TEST(GoldenProgramFolder, HasFiles) { EXPECT_GE(golden_names().size(), 180u); }

/// Programs without index code lift to an op again; with the hints that text does not hold, that op's program is the same text.
TEST(GoldenProgram, LiftedProgramsAreTheSameAgain) {
  int lifted = 0, scatters = 0, gathers = 0;
  for (const std::string& name : golden_names()) {
    for (const pto::Chip chip : {pto::Chip::a3, pto::Chip::a5}) {
      const Expected<pto::TileProgram> program = program_of(name, chip, options_of(name, chip));
      if (!program.ok()) continue;
      const Expected<std::string> text = pto::program_text({*program}, "pto-ir");
      ASSERT_TRUE(text.ok());
      Expected<Program> imported = pto::import_program(*text, name + ".pto", {});
      if (!imported.ok()) {
        EXPECT_EQ(imported.status().code(), Code::unsupported) << name << ": " << imported.status().message();
        continue;
      }
      ASSERT_EQ(imported->kernels().size(), 1u) << name;
      ++lifted;
      Op op = imported->kernel(0).op;
      const Expected<Op> given = parse_op(test::read_text(kFolder / (name + ".op")));
      ASSERT_TRUE(given.ok());
      ++(is_scatter(op) ? scatters : gathers);
      if (is_scatter(op)) {
        std::get<Scatter>(op).unique_indices = std::get<Scatter>(*given).unique_indices;
        std::get<Scatter>(op).order = std::get<Scatter>(*given).order;
      }
      const Expected<pto::TileProgram> again = plan_of(op, chip, options_of(name, chip));
      ASSERT_TRUE(again.ok()) << name << ": " << again.status().message() << "\n" << print(op);
      EXPECT_EQ(*pto::program_text({*again}, "pto-ir"), *text) << name << " lifts to " << print(op);
      if (chip == pto::Chip::a3) continue;
      test::NpuChecker checker(false, "", 8'000);
      const std::optional<test::Failure> failure = checker.check(test::blueprint_of(op), 1);
      EXPECT_FALSE(failure) << name << ": " << failure->call << "\n" << failure->what;
    }
  }
  EXPECT_GE(lifted, 270);
  EXPECT_GE(scatters, 140);
  EXPECT_GE(gathers, 110);
  std::printf("%d lifted: %d scatters, %d gathers\n", lifted, scatters, gathers);
}

class GoldenTools : public testing::TestWithParam<pto::Chip> {};

TEST_P(GoldenTools, MlirReadsTheGenericForm) {
  const std::string find = "command -v mlir-opt-22 > /dev/null 2>&1";
  if (std::system(find.c_str()) != 0) GTEST_SKIP() << "no mlir-opt-22 on PATH";
  const Expected<std::string> text = pto::program_text(test::golden_programs(kFolder, GetParam()), "pto-ir-generic");
  ASSERT_TRUE(text.ok());
  const fs::path file = fs::path(testing::TempDir()) / ("strew_" + std::string(pto::name(GetParam())) + ".mlir");
  std::ofstream(file) << *text;
  const std::string command =
      "mlir-opt-22 --allow-unregistered-dialect " + file.string() + " -o /dev/null 2> " + file.string() + ".err";
  EXPECT_EQ(std::system(command.c_str()), 0) << test::read_text(file.string() + ".err").substr(0, 2000);
  fs::remove(file);
  fs::remove(file.string() + ".err");
}

INSTANTIATE_TEST_SUITE_P(Chips, GoldenTools, testing::Values(pto::Chip::a3, pto::Chip::a5),
                         [](const auto& info) { return std::string(pto::name(info.param)); });

/// Not bytes: the last tile is counted whole, so that taller ones count more rows than there are.
TEST(ProgramCost, FallsAsTilesGrow) {
  for (const auto& [name, chip] : cases()) {
    if (name != "row_add" && name != "elem_large" && name != "gather" && name != "row_i64") continue;
    pto::CostReport before;
    for (const int64_t rows : {8, 16, 32, 64}) {
      pto::ProgramOptions options;
      options.tile_rows = rows;
      options.buffers = 1;
      options.blocks = 1;
      const Expected<pto::TileProgram> program = program_of(name, chip, options);
      ASSERT_TRUE(program.ok()) << name << ": " << program.status().message();
      if (rows > 8) {
        EXPECT_LE(program->cost.longest.instructions, before.longest.instructions)
            << name << " for " << pto::name(chip) << ", " << rows << " rows";
        EXPECT_GE(program->cost.ub_peak, before.ub_peak) << name << ", " << rows << " rows";
      }
      before = program->cost;
    }
  }
}

TEST(ProgramCost, WritingOneTakesLittle) {
  double worst = 0, sum = 0;
  int count = 0;
  std::string slowest;
  for (const std::string& name : golden_names()) {
    for (const pto::Chip chip : {pto::Chip::a3, pto::Chip::a5}) {
      const Expected<Op> op = parse_op(test::read_text(kFolder / (name + ".op")));
      ASSERT_TRUE(op.ok());
      double best = 1e9;  // of a few: others run on this machine
      for (int i = 0; i < 3; ++i) {
        const std::clock_t start = std::clock();
        Expected<pto::TileProgram> program = plan_of(*op, chip, options_of(name, chip));
        std::vector<pto::TileProgram> programs;
        if (program.ok()) programs.push_back(std::move(*program));
        if (!programs.empty()) {
          ASSERT_FALSE(pto::program_text(programs, "pto-ir")->empty());
        }
        best = std::min(best, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
      }
      sum += best;
      ++count;
      if (best > worst) slowest = name + " for " + std::string(pto::name(chip));
      worst = std::max(worst, best);
    }
  }
  EXPECT_LT(worst, 50) << "milliseconds of CPU time for " << slowest << "; docs/npu.md says what a quiet machine measures";
  std::printf("%.2f ms a program, at most %.2f (%s)\n", sum / count, worst, slowest.c_str());
}

/// Of those that have more, docs/npu.md says why.
TEST(ProgramCost, TextsAreShort) {
  const std::set<std::string> longer = {"nd",      "kv_prefill",    "scatter_elements", "kv",        "onnx_scatter_nd",
                                        "row_err", "lookup_tables", "row_copy_wide",    "nz_row_i8", "row_values"};
  // Floats are converted or combined in integers of the scalar unit.
  const std::set<std::string> soft = {"row_bf16_wide_sum", "row_f8_convert", "row_f8_add", "row_i8_scaled", "row_dot"};
  for (const std::string& name : golden_names()) {
    for (const pto::Chip chip : {pto::Chip::a3, pto::Chip::a5}) {
      for (const pto::Sync sync : {pto::Sync::flags, pto::Sync::tool}) {
        pto::ProgramOptions options = options_of(name, chip);
        options.sync = sync;
        const Expected<pto::TileProgram> program = program_of(name, chip, options);
        if (!program.ok()) continue;
        const std::string text = *pto::program_text({*program}, "pto-ir");
        const auto lines = std::count(text.begin(), text.end(), '\n');
        const bool may = longer.contains(name) || program->launches > 1;
        EXPECT_LE(lines, soft.contains(name) ? 950
                         : may               ? 410
                                             : 205)
            << name << " for " << pto::name(chip) << ", " << pto::name(sync);
      }
    }
  }
}

/// Every source in examples/ becomes programs for both chips; in PTO-AS too, unless its frozen grammar or the buffer's size is in the way.
TEST(Examples, HaveNpuPrograms) {
  int kernels = 0;
  for (const auto& entry : fs::recursive_directory_iterator(test::source_folder() / "examples")) {
    const std::string ending = entry.path().extension().string();
    if (ending != ".onnx" && ending != ".mlir" && ending != ".tflite" && ending != ".pto") continue;
    const Expected<Program> imported = import_file(entry.path().string(), {});
    ASSERT_TRUE(imported.ok()) << imported.status().message();
    for (const ProgramKernel& kernel : imported->kernels()) {
      for (const pto::Chip chip : {pto::Chip::a3, pto::Chip::a5}) {
        for (const pto::Output output : {pto::Output::pto_ir, pto::Output::pto_cpp}) {
          pto::ProgramOptions options;
          options.output = output;
          const Expected<pto::TileProgram> program = plan_of(kernel.op, chip, options);
          EXPECT_TRUE(program.ok()) << entry.path() << ": " << kernel.name << ": " << program.status().message();
        }
        pto::ProgramOptions frozen;
        frozen.output = pto::Output::pto_as;
        const Expected<pto::TileProgram> program = plan_of(kernel.op, chip, frozen);
        if (!program.ok()) {
          EXPECT_THAT(program.status().message(),
                      testing::ContainsRegex("pto-as: .*(grammar|without loops|rows of).*pto-ir|no tile of a row fits"))
              << entry.path();
        }
      }
      ++kernels;
    }
  }
  EXPECT_GE(kernels, 9);
}

}  // namespace
}  // namespace strew
