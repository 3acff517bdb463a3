// docs/npu.md and docs/npu_checks.md are held to what there is: the walk from ONNX to PTO to the text it tells of, line by line, and the table of
// case kinds to the golden programs it names.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>

#include "backends/pto/program.h"
#include "compiler/import/onnx/onnx.h"
#include "compiler/pto/instructions.h"
#include "strew/import.h"
#include "strew/text.h"
#include "tests/support/golden.h"
#include "tests/support/golden_programs.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/paths.h"

namespace strew::testing {
namespace {

namespace fs = std::filesystem;
const fs::path kSource = test::source_folder();
const fs::path kFolder = kSource / "tests/golden/programs";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

/// `FIRST-LAST: fragment … fragment`, as the document has them.
struct Claim {
  size_t first = 0, last = 0;
  std::vector<std::string> fragments;
};

std::vector<Claim> claims(const std::string& document) {
  std::vector<Claim> out;
  for (const std::string& line : lines_of(document)) {
    Claim c;
    int used = 0;
    if (!line.starts_with("       ") || std::sscanf(line.c_str(), "       %zu-%zu: %n", &c.first, &c.last, &used) != 2 ||
        used == 0)
      continue;
    std::string rest = line.substr(static_cast<size_t>(used));
    const std::string gap = " … ";
    for (size_t at = rest.find(gap); at != std::string::npos; at = rest.find(gap)) {
      c.fragments.push_back(rest.substr(0, at));
      rest.erase(0, at + gap.size());
    }
    c.fragments.push_back(rest);
    out.push_back(std::move(c));
  }
  return out;
}

TEST(NpuDocument, EveryLineIsTold) {
  const std::vector<std::string> program = lines_of(test::read_text(kFolder / "onnx_scatter_nd.a5.pto"));
  const std::vector<Claim> told = claims(test::read_text(kSource / "docs/npu.md"));
  size_t next = 1;
  for (const Claim& c : told) {
    EXPECT_EQ(c.first, next) << "lines are told one after the other";
    ASSERT_LE(c.last, program.size());
    ASSERT_LE(c.first, c.last);
    next = c.last + 1;
    std::string text;
    for (size_t line = c.first; line <= c.last; ++line) text += program[line - 1] + "\n";
    size_t at = 0;
    for (const std::string& fragment : c.fragments) {
      const size_t found = text.find(fragment, at);
      EXPECT_NE(found, std::string::npos) << c.first << "-" << c.last << ": '" << fragment << "' is not in\n" << text;
      at = found == std::string::npos ? at : found + fragment.size();
    }
  }
  EXPECT_EQ(next, program.size() + 1);
}

TEST(NpuDocument, TheOnnxModelIsThatOp) {
  Expected<Program> imported =
      onnx::import_model(onnx_scatter_model("ScatterND", {1024, 64}, {256, 1}, {256, 64}).bytes(), "scatter_nd.onnx", {});
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  const std::string op = print(imported->kernels().at(0).op);
  EXPECT_EQ(op + "\n", test::read_text(kFolder / "onnx_scatter_nd.op"));
  std::string document = test::read_text(kSource / "docs/npu.md"), shown;
  const size_t from = document.find("       strew1.scatter(operand=f32[1024,64]");
  ASSERT_NE(from, std::string::npos);
  for (const char c : document.substr(from, document.find("\n\n", from) - from))
    if (c != '\n' && (c != ' ' || (!shown.empty() && shown.back() != ' '))) shown += c;
  EXPECT_EQ(shown, op);
}

/// The table of case kinds names golden ops in its second column; each is there, and none is left out. GoldenProgram plans each for both
/// chips.
TEST(NpuDocument, EveryCaseKindHasItsPrograms) {
  const std::string document = test::read_text(kSource / "docs/npu_checks.md");
  const size_t from = document.find("## Case kinds");
  ASSERT_NE(from, std::string::npos);
  std::set<std::string> named;
  int rows = 0;
  for (const std::string& line : lines_of(document.substr(from))) {
    if (!line.starts_with("| ") || line.starts_with("| kind")) continue;
    ++rows;
    const size_t column = line.find(" | ") + 3;
    std::istringstream names(line.substr(column, line.find(" | ", column) - column));
    for (std::string name; names >> name;) {
      EXPECT_TRUE(fs::exists(kFolder / (name + ".op"))) << name << " in: " << line;
      named.insert(name);
    }
  }
  EXPECT_GE(rows, 30);
  for (const std::string& name : test::stems(kFolder, ".op")) EXPECT_TRUE(named.contains(name)) << name << " is in no row";
}

/// The instruction's own examples, by name: what they ask for is in both chips' programs.
TEST(NpuDocument, TheInstructionsExamples) {
  struct Example {
    const char *name, *mode, *atomic, *oob;
  };
  for (const auto& [name, mode, atomic, oob] :
       {Example{"seed_weight_update", "row", "none", "skip"}, Example{"seed_atomic_gradient", "row", "add", "skip"},
        Example{"seed_sparse_update", "elem", "none", "wrap"}, Example{"seed_manual", "row", "none", "clamp"}}) {
    for (const pto::Chip chip : {pto::Chip::a3, pto::Chip::a5}) {
      const Expected<pto::TileProgram> program = test::golden_program(kFolder, name, chip, test::golden_options(name, chip));
      ASSERT_TRUE(program.ok()) << program.status().message();
      const Expected<std::string> text = pto::program_text({*program}, "pto-ir");
      ASSERT_TRUE(text.ok()) << text.status().message();
      const std::string modes = "{coalesce = #pto<coalesce " + std::string(mode) +
                                ">, scatterAtomicOp = #pto<scatter_atomic_op " + atomic + ">, scatterOob = #pto<scatter_oob " +
                                oob + ">";
      EXPECT_NE(text->find(modes), std::string::npos) << name << " for " << pto::name(chip) << ": " << modes;
    }
  }
}

}  // namespace
}  // namespace strew::testing
