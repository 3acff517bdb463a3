// Expressions as large as they may be (kMaxExprNodes), in the shapes that hurt recursion, from a thread with a small stack: everything that
// takes an op takes these, or says clearly why not.
#include "tests/support/deep_expr.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "backends/backend.h"
#include "backends/pipeline.h"
#include "backends/pto/program.h"
#include "compiler/op/limits.h"
#include "strew/import.h"
#include "strew/runtime.h"
#include "strew/text.h"
#include "strew/verified.h"
#include "strew/verify.h"
#include "tests/support/ops.h"
#include "tests/support/options.h"
#include "tests/support/plan.h"
#include "tests/support/small_stack.h"
#include "tests/support/views.h"
#include "tests/unit/compiler/import/stablehlo_testing.h"

namespace strew {
namespace {

using test::DeepShape;
using testing::HasSubstr;

/// The bytes of the table after one call, or why there are none.
Expected<std::string> table_after(Runtime& runtime, const Op& op, const std::string& backend) {
  const DType dtype = std::get<Scatter>(op).results[0].dtype;
  const size_t size = static_cast<size_t>(bits(dtype)) / 8;
  std::string table(20 * size, '\0'), updates(12 * size, '\0');
  for (size_t i = 0; i < table.size(); i += size) table[i + size - 1] = static_cast<char>(0x3f);
  for (size_t i = 0; i < updates.size(); i += size) updates[i + size - 1] = static_cast<char>(0xbf);
  int32_t indices[] = {4, 0, 4};
  KernelOptions options;
  options.backend = test::backend(backend);
  options.threads = 1;
  STREW_ASSIGN(const Kernel kernel, runtime.get(op, options));
  STREW_TRY(kernel.run(
      test::Views().add(table.data(), dtype, {5, 4}).add(indices, DType::i32, {3, 1}).add(updates.data(), dtype, {3, 4})));
  return table;
}

void check_text_and_plan(const Op& op) {
  const Status legal = verify(op);
  ASSERT_TRUE(legal.ok()) << legal.message();
  const std::string text = print(op);
  const Expected<Op> again = parse_op(text);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_TRUE(*again == op);
  const Expected<VerifiedOp> verified = VerifiedOp::of(op);
  ASSERT_TRUE(verified.ok()) << verified.status().message();
  const Expected<Plan> plan = canonical_plan(*verified);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_FALSE(print(*plan).empty());
}

void check_backends(const Op& op) {
  Runtime runtime;
  const Expected<std::string> right = table_after(runtime, op, "reference");
  ASSERT_TRUE(right.ok()) << right.status().message();
  for (const char* backend : {"llvm", "halide"}) {
    const Expected<std::string> table = table_after(runtime, op, backend);
    if (table.ok()) {
      EXPECT_EQ(*table, *right) << backend;
    } else {
      EXPECT_EQ(table.status().code(), Code::unsupported) << table.status().message();
      EXPECT_STREQ(backend, "halide") << table.status().message();
      EXPECT_THAT(table.status().message(), testing::ContainsRegex("steps deep|STREW_WITH_HALIDE"));
    }
  }
}

void check_emitted(const Op& op) {
  KernelOptions options;
  options.backend = BackendChoice::llvm;
  test::set_schedule(options, "threads=1");
  const Expected<Compiled> compiled = compile(op, options);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  const BuildRequest request{tensor_slots(compiled->op), compiled->plan, compiled->schedule, compiled->target, compiled->symbol};
  for (const char* kind : {"ll", "asm"}) {
    const Expected<std::string> text = compiled->backend->emit_text(request, kind);
    ASSERT_TRUE(text.ok()) << text.status().message();
    EXPECT_FALSE(text->empty());
  }
  const Backend* halide = find_backend("halide");
  const Expected<std::string> loops = halide->emit_text(request, "halide");
  EXPECT_TRUE(loops.ok() || loops.status().code() == Code::unsupported) << loops.status().message();
}

void check_npu(const Op& op) {
  const Expected<VerifiedOp> verified = VerifiedOp::of(op);
  ASSERT_TRUE(verified.ok()) << verified.status().message();
  const Expected<Plan> plan = canonical_plan(*verified);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  for (const pto::Chip chip : {pto::Chip::a3, pto::Chip::a5}) {
    for (const pto::Output output : {pto::Output::pto_ir, pto::Output::pto_cpp, pto::Output::pto_as}) {
      pto::ProgramOptions options;
      options.output = output;
      const Expected<pto::TileProgram> program = pto::plan_program(tensor_slots(*verified), *plan, chip, options);
      if (!program.ok()) {
        EXPECT_EQ(program.status().code(), Code::unsupported) << program.status().message();
        continue;
      }
      const Expected<std::string> text = pto::program_text({*program}, std::string(name(output)));
      ASSERT_TRUE(text.ok()) << text.status().message();
      EXPECT_FALSE(text->empty());
    }
  }
}

class DeepExpr : public testing::TestWithParam<std::tuple<DeepShape, DType>> {
 protected:
  Op op() const { return test::deep_op(std::get<0>(GetParam()), std::get<1>(GetParam()), kMaxExprNodes); }
};

TEST_P(DeepExpr, HasTextAndPlan) {
  test::on_small_stack(test::kSmallStack, [&] { check_text_and_plan(op()); });
}
TEST_P(DeepExpr, RunsOnEveryBackend) {
  test::on_small_stack(test::kSmallStack, [&] { check_backends(op()); });
}
TEST_P(DeepExpr, IsEmitted) {
  test::on_small_stack(test::kSmallStack, [&] { check_emitted(op()); });
}
TEST_P(DeepExpr, IsAnNpuProgramOrHasAReason) {
  test::on_small_stack(test::kSmallStack, [&] { check_npu(op()); });
}

INSTANTIATE_TEST_SUITE_P(Shapes, DeepExpr,
                         testing::Combine(testing::Values(DeepShape::chain, DeepShape::comb, DeepShape::tree, DeepShape::shared),
                                          testing::Values(DType::f32, DType::bf16, DType::i64)),
                         [](const auto& info) {
                           return std::string(test::name_of(std::get<0>(info.param))) + "_" +
                                  std::string(name(std::get<1>(info.param)));
                         });

/// The deepest that Halide takes, and one more.
TEST(DeepExprHalide, TakesWhatItSaysAndNoMore) {
  test::on_small_stack(test::kSmallStack, [] {
    Runtime runtime;
    const Op most = test::deep_op(DeepShape::chain, DType::i32, 512 + 1),
             more = test::deep_op(DeepShape::chain, DType::i32, 512 + 2);
    const Expected<std::string> table = table_after(runtime, most, "halide"), right = table_after(runtime, most, "reference");
    if (!table.ok() && table.status().message().find("STREW_WITH_HALIDE") != std::string::npos) return;
    ASSERT_TRUE(table.ok()) << table.status().message();
    EXPECT_EQ(*table, *right);
    EXPECT_THAT(table_after(runtime, more, "halide").status().message(),
                HasSubstr("backend halide: the combiner is 513 steps deep at node 512, expected at most 512"));
  });
}

/// 64-bit integers are computed element by element, so that large expressions are programs and not too many tiles.
TEST(DeepExprNpu, IsWrittenWhereScalarsCompute) {
  test::on_small_stack(test::kSmallStack, [] {
    const Op op = test::deep_op(DeepShape::chain, DType::i64, kMaxExprNodes);
    const Expected<VerifiedOp> verified = VerifiedOp::of(op);
    ASSERT_TRUE(verified.ok()) << verified.status().message();
    const Expected<Plan> plan = canonical_plan(*verified);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    const Expected<pto::TileProgram> program = pto::plan_program(tensor_slots(*verified), *plan, pto::Chip::a5, {});
    ASSERT_TRUE(program.ok()) << program.status().message();
  });
}

/// Brackets as deep as the prescan lets them be, through MLIR's parser and the destructors of what it made.
TEST(DeepMlir, BracketsAreParsedOnASmallStack) {
  test::on_small_stack(test::kSmallStack, [] {
    std::string text = "func.func @main() attributes {x = ";
    for (int i = 0; i < 250; ++i) text += "[";
    for (int i = 0; i < 250; ++i) text += "]";
    const Expected<Program> imported = import_mlir_text(text + "} { return }\n");
    EXPECT_FALSE(imported.ok());  // it holds no kernel
  });
}

}  // namespace
}  // namespace strew
