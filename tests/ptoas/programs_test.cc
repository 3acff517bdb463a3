// The real ptoas takes every golden program (tests/golden/programs) that is not refused, and its C++ holds the modes that were asked for. And it
// does not take gathers through L1, which is why those are refused as PTO IR (backends/pto/l1.cc).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "backends/pto/program.h"
#include "compiler/pto/instructions.h"
#include "compiler/pto/print.h"
#include "strew/text.h"
#include "strew/verified.h"
#include "tests/ptoas/with_ptoas.h"
#include "tests/support/golden_programs.h"
#include "tests/support/paths.h"
#include "tests/support/plan.h"

namespace strew {
namespace {

const std::filesystem::path kFolder = test::source_folder() / "tests/golden/programs";

class PtoasPrograms : public test::WithPtoas, public testing::WithParamInterface<pto::Chip> {};

/// Modes as ptoas writes them: without those at the end that are the headers' defaults.
std::string without_defaults(std::string modes) {
  for (const char* last : {", pto::ScatterOOB::Undefined", ", pto::GatherOOB::Undefined", ", pto::ScatterAtomicOp::None"}) {
    const size_t size = std::string(last).size();
    if (modes.size() > size && modes.compare(modes.size() - size, size, last) == 0) modes.resize(modes.size() - size);
  }
  return modes;
}

void modes_of(const std::vector<pto::Statement>& statements, std::vector<std::string>& out) {
  for (const pto::Statement& s : statements) {
    if (s.opcode == pto::Opcode::mscatter || s.opcode == pto::Opcode::mgather) {
      std::string modes;
      for (const pto::AttributeRule& rule : pto::info(s.opcode).attributes)
        if (const std::string_view value = s.attribute(rule.name); !value.empty())
          modes += (modes.empty() ? "" : ", ") + rule.in_cpp(value);
      out.push_back((s.opcode == pto::Opcode::mscatter ? "MSCATTER<" : "MGATHER<") + without_defaults(modes) + ">");
    }
    modes_of(s.body, out);
  }
}

TEST_P(PtoasPrograms, AreTakenAndKeepTheirModes) {
  const std::vector<pto::TileProgram> programs = test::golden_programs(kFolder, GetParam());
  const Expected<std::string> text = pto::program_text(programs, "pto-ir");
  ASSERT_TRUE(text.ok());
  const test::PtoasAnswer answer = test::run_ptoas(tool, *text, std::string(pto::name(GetParam())));
  ASSERT_TRUE(answer.accepted) << answer.errors.substr(0, 2000);
  std::vector<std::string> wanted, got;
  for (const pto::TileProgram& program : programs) modes_of(program.module.functions[0].body, wanted);
  std::istringstream lines(answer.cpp);
  for (std::string line; std::getline(lines, line);) {
    const size_t at = std::min(line.find("MSCATTER<"), line.find("MGATHER<"));
    if (at != std::string::npos) got.push_back(line.substr(at, line.find(">(", at) + 1 - at));
  }
  EXPECT_EQ(got, wanted);
}

INSTANTIATE_TEST_SUITE_P(Chips, PtoasPrograms, testing::Values(pto::Chip::a3, pto::Chip::a5),
                         [](const auto& info) { return std::string(pto::name(info.param)); });

class PtoasL1 : public test::WithPtoas {};

/// What the refusals say of ptoas is so: the day it is not, these programs can be PTO IR, too.
TEST_F(PtoasL1, TakesFractalsForRows) {
  const Expected<VerifiedOp> op = VerifiedOp::of(
      *parse_op("strew1.gather(operand=f16[64,2,16] indices=u32[48,1] result=f16[2,48,16] offset_dims=[0,2] "
                "collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 slice_sizes=[1,2,16] oob=clamp)"));
  ASSERT_TRUE(op.ok()) << op.status().message();
  const auto text = [&](pto::Chip chip) {
    pto::ProgramOptions options;
    options.output = pto::Output::pto_cpp;
    options.through_l1 = true;
    return pto::print(pto::plan_program(tensor_slots(*op), *canonical_plan(*op), chip, options)->module);
  };
  const test::PtoasAnswer stores = test::run_ptoas(tool, text(pto::Chip::a3), "a3", "--pto-level=level3");
  EXPECT_FALSE(stores.accepted);
  EXPECT_THAT(stores.errors, testing::HasSubstr("layout=nz but inferred=nd"));
  const test::PtoasAnswer moves = test::run_ptoas(tool, text(pto::Chip::a5), "a5", "--pto-level=level3");
  EXPECT_FALSE(moves.accepted);
  EXPECT_THAT(moves.errors, testing::HasSubstr("expects a supported tmov address-space pair"));
}

}  // namespace
}  // namespace strew
