// What the LLVM backend declines, each with the dtype or node that is the reason. The module itself is not opened.
#include "backends/llvm/can_build/can_build.h"

#include <gtest/gtest.h>

#include "backends/pipeline.h"
#include "strew/text.h"
#include "strew/verify.h"
#include "tests/support/ops.h"

namespace strew {
namespace {

std::string answer(const std::string& dtype, const std::string& rest, const char* cpu = "x86-64-v3") {
  auto op = parse_op("strew1.scatter(operand=" + dtype + "[64] indices=i32[8] updates=" + dtype +
                     "[8] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1" + rest + ")");
  if (!op.ok()) return op.status().message();
  const Expected<VerifiedOp> verified = VerifiedOp::of(*op);
  if (!verified.ok()) return verified.status().message();
  return llvm_can_build(*canonical_plan(*verified), Schedule{}, *parse_target(cpu)).message();
}

TEST(LlvmCanBuild, ArithmeticAndMovement) {
  for (const char* dtype :
       {"i4", "u4", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f8e4m3fn", "f8e5m2fnuz", "f16", "bf16", "f32", "f64"})
    for (const char* kind : {"add", "sub", "mul", "div", "min", "max"})
      EXPECT_EQ(answer(dtype, std::string(" combiner=") + kind), "") << dtype << " " << kind;
  for (const char* dtype : {"bool", "i2", "u4", "f4e2m1", "f6e2m3", "f8e8m0", "hif8", "complex64", "complex128", "string"})
    EXPECT_EQ(answer(dtype, ""), "") << dtype;
  EXPECT_EQ(answer("f32", " combiner=expr expr={%0=update(0):f32;%1=exponential(%0):f32;return %1}"), "");
}

TEST(LlvmCanBuild, ComplexAndWide) {
  EXPECT_EQ(answer("complex64", " combiner=div"), "");
  EXPECT_EQ(answer("bf16", " combiner=add accumulate=wide"), "");
}

TEST(LlvmCanBuild, Aarch64) { EXPECT_EQ(answer("f32", "", "generic"), ""); }

TEST(LlvmCanBuild, DeclinesWithTheReason) {
  EXPECT_EQ(answer("f32", "", "npu-a5"), "backend llvm: architecture npu is not generated, only x86_64 and aarch64");
}

/// A scatter whose updates are looked up, all with this policy, in tables of whose windows an index moves the elements.
std::string lookups(int pairs, const std::string& oob) {
  std::string operands, updates, list;
  for (int i = 0; i < pairs; ++i) {
    const std::string comma = i > 0 ? "," : "";
    operands += comma + "f32[64,4]";
    updates += comma + "f32[8,4]";
    list += comma + "updates(" + std::to_string(i) + ")=gather(operand=f32[9] indices=i32[8] result=f32[8,4] offset_dims=[1] " +
            "start_index_map=[0] index_vector_dim=1 slice_sizes=[4] oob=" + oob + ")";
  }
  return "strew1.scatter(operand=[" + operands + "] indices=i32[8] updates=[" + updates + "] lookups=[" + list +
         "] update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add)";
}

TEST(LlvmCanBuild, LookUpsThatCutWindowsAndTwoThatFill) {
  const auto answer_of = [](const std::string& op) {
    return llvm_can_build(*test::plan_of(test::op_of(op)), Schedule{}, *parse_target("x86-64-v3")).message();
  };
  for (const char* const oob : {"skip_element", "wrap"}) EXPECT_EQ(answer_of(lookups(3, oob)), "") << oob;
  for (const char* const oob : {"fill_element fill=1:f32", "fill_window fill=1:f32"}) {
    EXPECT_EQ(answer_of(lookups(2, oob)), "") << oob;
    const std::string policy(oob, std::string_view(oob).find(' '));
    EXPECT_EQ(answer_of(lookups(3, oob)), "backend llvm: the look-up of updates 2 is one of more than 2 that fill (policy " +
                                              policy + "), which is not generated");
  }
}

}  // namespace
}  // namespace strew
