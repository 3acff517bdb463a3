// The C++ that the real ptoas writes for our programs has no arithmetic whose parentheses may be missing (backends/pto/guard.cc): for every
// golden op and for random ones, on both chips, with every --sync.
#include <gtest/gtest.h>

#include <filesystem>

#include "backends/pto/program.h"
#include "compiler/pto/instructions.h"
#include "strew/text.h"
#include "strew/verified.h"
#include "tests/differential/npu/npu_check.h"
#include "tests/differential/random_op.h"
#include "tests/ptoas/with_ptoas.h"
#include "tests/support/cpp_expressions.h"
#include "tests/support/golden.h"
#include "tests/support/paths.h"
#include "tests/support/plan.h"

namespace strew::testing {
namespace {

constexpr pto::Chip kChips[] = {pto::Chip::a3, pto::Chip::a5};
constexpr pto::Sync kSyncs[] = {pto::Sync::flags, pto::Sync::addresses, pto::Sync::tool};

/// Programs of one chip and one --sync, for one run of ptoas.
class Batch {
 public:
  Batch(pto::Chip chip, pto::Sync sync) : chip_(chip), sync_(sync) {}

  void add(const Op& op, pto::ProgramOptions options) {
    options.output = pto::Output::pto_ir;
    options.sync = sync_;
    options.through_l1 = false;
    options.index_column &= chip_ == pto::Chip::a5;
    options.kernel = "k" + std::to_string(programs_.size());
    const Expected<VerifiedOp> verified = VerifiedOp::of(op);
    ASSERT_TRUE(verified.ok()) << verified.status().message();
    const Expected<Plan> plan = canonical_plan(*verified);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    Expected<pto::TileProgram> program = pto::plan_program(tensor_slots(*verified), *plan, chip_, options);
    if (!program.ok()) {
      EXPECT_EQ(program.status().code(), Code::unsupported) << program.status().message() << "\n" << print(op);
      return;
    }
    programs_.push_back(std::move(*program));
    ops_.push_back(print(op));
  }

  void check(const std::string& tool) const {
    const Expected<std::string> text = pto::program_text(programs_, "pto-ir");
    ASSERT_TRUE(text.ok()) << text.status().message();
    const std::string flags = sync_ == pto::Sync::addresses ? "--pto-level=level3"
                              : sync_ == pto::Sync::tool    ? "--enable-insert-sync"
                                                            : "";
    const std::string chip(pto::name(chip_));
    const test::PtoasAnswer answer = test::run_ptoas(tool, *text, chip, flags);
    ASSERT_TRUE(answer.accepted) << chip << " " << flags << "\n" << answer.errors.substr(0, 2000);
    // Functions stand in the order of the programs.
    size_t at = answer.cpp.find("extern \"C\" __global__");
    for (const std::string& op : ops_) {
      ASSERT_NE(at, std::string::npos) << op;
      const size_t end = answer.cpp.find("extern \"C\" __global__", at + 1);
      const std::vector<std::string> found = test::ambiguous_expressions(answer.cpp.substr(at, end - at));
      if (!found.empty())
        ADD_FAILURE() << chip << " " << flags << ", " << op << ": " << found.size() << " lines, the first:\n" << found[0];
      at = end;
    }
  }

  size_t size() const { return programs_.size(); }

 private:
  pto::Chip chip_;
  pto::Sync sync_;
  std::vector<pto::TileProgram> programs_;
  std::vector<std::string> ops_;
};

class PtoasArithmetic : public test::WithPtoas {};

TEST_F(PtoasArithmetic, OfGoldenOpsIsClear) {
  const std::filesystem::path folder = test::source_folder() / "tests/golden/programs";
  for (const pto::Chip chip : kChips) {
    for (const pto::Sync sync : kSyncs) {
      Batch batch(chip, sync);
      for (const std::string& name : test::stems(folder, ".op")) {
        const Expected<Op> op = parse_op(test::read_text(folder / (name + ".op")));
        ASSERT_TRUE(op.ok()) << op.status().message();
        batch.add(*op, {});
      }
      EXPECT_GE(batch.size(), 140u);
      batch.check(tool);
    }
  }
}

TEST_F(PtoasArithmetic, OfRandomOpsIsClear) {
  const uint64_t seed = test::random_seed();
  uint64_t stream = 0;
  for (const pto::Chip chip : kChips) {
    for (const pto::Sync sync : kSyncs) {
      Batch batch(chip, sync);
      for (int i = 0; i < 60; ++i) {
        test::Rng rng = test::Rng::stream(seed, stream++);
        const Op op = test::make_op(test::random_npu_blueprint(rng));
        batch.add(op, test::random_wish(rng).options);
      }
      EXPECT_GE(batch.size(), 10u);
      batch.check(tool);
    }
  }
}

/// The smallest op that ptoas got wrong: every element was another one.
TEST_F(PtoasArithmetic, ClampedWindowsOffsetsAreSums) {
  const Expected<Op> op = parse_op(
      "strew1.gather(operand=f32[16,16] indices=i32[2] result=f32[8,8] offset_dims=[0,1] start_index_map=[0,1] "
      "slice_sizes=[8,8])");
  ASSERT_TRUE(op.ok()) << op.status().message();
  for (const pto::Chip chip : kChips) {
    for (const pto::Sync sync : kSyncs) {
      Batch batch(chip, sync);
      batch.add(*op, {});
      ASSERT_EQ(batch.size(), 1u);
      batch.check(tool);
    }
  }
}

}  // namespace
}  // namespace strew::testing
