// The C++ that the real ptoas writes for our programs has no arithmetic whose parentheses may be missing (backends/pto/guard.h): for every
// golden op and for random ones, on both chips, with every --sync. Skipped where the tool is not; the reader of the C++ is tested anyway.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <random>

#include "backends/pto/program.h"
#include "backends/pto/text.h"
#include "compiler/pto/instructions.h"
#include "strew/text.h"
#include "strew/verified.h"
#include "tests/differential/npu/npu_check.h"
#include "tests/differential/random_op.h"
#include "tests/support/cpp_expressions.h"
#include "tests/support/golden.h"
#include "tests/support/paths.h"
#include "tests/support/plan.h"
#include "tests/support/ptoas.h"

namespace strew::testing {
namespace {

constexpr pto::Chip kChips[] = {pto::Chip::a3, pto::Chip::a5};
constexpr pto::Sync kSyncs[] = {pto::Sync::flags, pto::Sync::addresses, pto::Sync::tool};

uint64_t random_seed() {
  const char* text = std::getenv("STREW_TEST_SEED");
  const uint64_t seed = text != nullptr ? std::strtoull(text, nullptr, 0) : std::random_device{}();
  std::cout << "STREW_TEST_SEED=" << seed << "\n";
  return seed;
}

/// What ptoas 0.60 wrote for arithmetic that was not guarded, and what that meant.
TEST(AmbiguousExpressions, AreFound) {
  for (const char* line : {
           "f((__gm__ float*) v2 + (v17 + v16 * v18 + v15 < v6 ? v15 : v6), v19, v20);",           // .. + (v15 < v6 ? v15 : v6)
           "int64_t v19 = (int64_t) ((uint64_t) (v11 >> (uint64_t) v13 % v9) + (uint64_t) v12);",  // (v11 >> v13) % v9
           "int64_t v20 = (int64_t) ((uint64_t) (v11 / v12 / v13) + (uint64_t) v12);",             // v11 / (v12 / v13)
           "int64_t v15 = (int64_t) ((uint64_t) ((int64_t) v3 < v4 ? v3 : v4) + (uint64_t) v7);",  // (v3 < v4 ? v3 : v4)
           "int64_t v14 = (int64_t) ((int16_t) (uint16_t) v3 + (uint16_t) v4);",                   // (int16_t) (..)
           "int64_t v22 = (int64_t) ((uint64_t) ((int64_t) (uint64_t) ((uint8_t) v11 < v12)) + (uint64_t) v12);",
           "int64_t v23 = (uint64_t) (v6 < v12 ? v11 : v12 / v13);",  // (v6 < v12 ? v11 : v12) / v13
           "T v76 = T((__gm__ float*) v1 + (v72 + v71 * v73 + (int64_t) v71 >> (uint64_t) v9), v74, v75);",
           "for (int64_t v16 = v6; v16 < v7 < v8 ? v7 : v8; v16 += v9) {",
           "int64_t v20 = v1 - v2 - v3;",
           "int64_t v20 = v1 * (v2 & v3 + v4);",
           "int64_t v5 = v1 * v2 % v3;",
       })
    EXPECT_EQ(test::ambiguous_expressions(line), std::vector<std::string>{line});
}

TEST(AmbiguousExpressions, AreNotFoundInWhatIsClear) {
  for (const char* line : {
           "f((__gm__ float*) v2 + (v17 + v16 * v18 + (v15 < v6 ? v15 : v6)), v19, v20);",
           "int64_t v20 = (int64_t) ((uint64_t) (v21 < v8 ? v21 : v8) + (uint64_t) v10);",
           "int64_t v20 = (int64_t) ((uint64_t) ((int64_t) (uint64_t) v11 ^ (uint64_t) v12) + (uint64_t) v12);",
           "int16_t v19 = (uint16_t) v18 < (uint16_t) v3 ? v3 : v18;",
           "for (int64_t v71 = v8; v71 < (v16 < v15 ? v16 : v15); v71 += v16 < v15 ? v15 : v16) {",
           "int64_t v27 = (int64_t) ((uint64_t) (v11 % v13 != v24 && v11 < v24 == v13 < v24 ? v26 + v25 : v26) * (uint64_t) "
           "v13);",
           "pto::Stride<-1, -1, -1, -1, -1> v26 = pto::Stride<-1, -1, -1, -1, -1>(v21 * v24, v24, v23, v15, v9);",
           "(v2)[(int64_t) ((uint64_t) v1 * (uint64_t) v3)] = v6;",
           "const int32_t v27 = -1;",
           "const float v16 = -1.17549435E-38f;",
           "if (v3 == v4) {",
           "if ((int64_t) v8 == v7) {",
           "extern \"C\" __global__ AICORE void k0(__gm__ float* v1, __gm__ float* v2, __gm__ int32_t* v3) {",
           "// pto: %a + %b < %c ? %d : %e",
       })
    EXPECT_EQ(test::ambiguous_expressions(line), std::vector<std::string>{}) << line;
}

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
    Expected<pto::Program> program = pto::plan_program(tensor_slots(*verified), *plan, chip_, options);
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
  std::vector<pto::Program> programs_;
  std::vector<std::string> ops_;
};

#define NEED_PTOAS()                    \
  const auto tool = test::find_ptoas(); \
  if (!tool) GTEST_SKIP() << "no ptoas: set PTOAS to it, or put it on PATH"

TEST(PtoasArithmetic, OfGoldenOpsIsClear) {
  NEED_PTOAS();
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
      batch.check(*tool);
    }
  }
}

TEST(PtoasArithmetic, OfRandomOpsIsClear) {
  NEED_PTOAS();
  const uint64_t seed = random_seed();
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
      batch.check(*tool);
    }
  }
}

/// The smallest op that ptoas got wrong: every element was another one.
TEST(PtoasArithmetic, ClampedWindowsOffsetsAreSums) {
  NEED_PTOAS();
  const Expected<Op> op = parse_op(
      "strew1.gather(operand=f32[16,16] indices=i32[2] result=f32[8,8] offset_dims=[0,1] start_index_map=[0,1] "
      "slice_sizes=[8,8])");
  ASSERT_TRUE(op.ok()) << op.status().message();
  for (const pto::Chip chip : kChips) {
    for (const pto::Sync sync : kSyncs) {
      Batch batch(chip, sync);
      batch.add(*op, {});
      ASSERT_EQ(batch.size(), 1u);
      batch.check(*tool);
    }
  }
}

}  // namespace
}  // namespace strew::testing
