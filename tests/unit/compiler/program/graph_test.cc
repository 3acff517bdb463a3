// Program as a graph: who reads what is counted while it is built and changed, what nobody needs reads nothing, and roll-back leaves nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/import/builder/program_builder.h"
#include "strew/program.h"
#include "strew/text.h"
#include "tests/support/ops.h"

namespace strew {
namespace {

using testing::HasSubstr;

class Graph : public testing::Test {
 protected:
  int input(const std::string& name, std::vector<int64_t> dims, DType dtype = DType::f32) {
    return program.add_input({name, {dtype, std::move(dims), {}}, false});
  }
  int negated(int value) { return ProgramBuilder(program, "neg").apply(ExprOp::neg, {value}).value(); }
  /// result = operand with operand[indices] += updates, rows of 4; returns the result.
  int scatter(int operand, int indices, int updates) {
    ProgramKernel kernel(test::verified(parse_op("strew1.scatter(operand=f32[8,4] indices=i32[3] updates=f32[3,4] "
                                                 "update_window_dims=[1] inserted_window_dims=[0] "
                                                 "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add)")
                                           .value()));
    kernel.name = "k" + std::to_string(program.kernels().size());
    kernel.arguments = {operand, indices, updates};
    return program.add_kernel(std::move(kernel));
  }
  void TearDown() override { EXPECT_EQ(program.verify().message(), ""); }

  Program program;
  const int table = input("table", {8, 4}), indices = input("indices", {3}, DType::i32), rows = input("rows", {3, 4});
};

TEST_F(Graph, WhatNobodyNeedsReadsNothing) {
  const int first = negated(rows), second = negated(first);
  EXPECT_EQ(program.readers(rows), 0);
  EXPECT_EQ(program.readers(first), 0);
  EXPECT_FALSE(program.is_needed(0));
  const int result = scatter(table, indices, second);
  EXPECT_EQ(program.readers(second), 1);
  EXPECT_EQ(program.readers(first), 1);
  EXPECT_EQ(program.readers(rows), 1);
  EXPECT_EQ(program.readers(result), 0);
  EXPECT_TRUE(program.is_needed(0));
  EXPECT_EQ(program.result_of(1), second);
  program.add_output({"result", result});
  program.add_output({"again", result});
  EXPECT_EQ(program.readers(result), 2);
}

TEST_F(Graph, AValueTellsWhatItIsMadeOf) {
  const int turned = negated(rows), result = scatter(table, indices, turned), four = ProgramBuilder(program, "").integer(4);
  ASSERT_NE(program.compute_of(turned), nullptr);
  EXPECT_EQ(program.compute_of(turned)->arguments, std::vector<int>{rows});
  EXPECT_NE(program.compute_of(turned, ComputeOp::map), nullptr);
  EXPECT_EQ(program.compute_of(turned, ComputeOp::reduce), nullptr);
  EXPECT_EQ(program.compute_of(result), nullptr);
  ASSERT_NE(program.kernel_of(result), nullptr);
  EXPECT_EQ(program.kernel_of(result)->name, "k0");
  EXPECT_EQ(program.kernel_of(rows), nullptr);
  EXPECT_NE(program.constant_of(four), nullptr);
  EXPECT_EQ(program.last_kernel(turned), -1);
  EXPECT_EQ(program.last_kernel(negated(result)), 0);
}

TEST_F(Graph, AnEditCountsAgain) {
  const int turned = negated(rows);
  scatter(table, indices, turned);
  program.edit_kernel(0, ComputeDisposition::fused)->arguments[2] = rows;
  EXPECT_EQ(program.readers(turned), 0);
  EXPECT_EQ(program.readers(rows), 1);
  EXPECT_EQ(program.compute(0).disposition, ComputeDisposition::fused);
  EXPECT_EQ(program.compute(0).kernel, 0);
  program.edit_kernel(0)->arguments[2] = turned;
  EXPECT_EQ(program.compute(0).disposition, ComputeDisposition::interpreted) << "it is needed again";
  program.edit_kernel(0)->arguments[2] = rows;
  EXPECT_EQ(program.compute(0).disposition, ComputeDisposition::unused);
}

TEST_F(Graph, ASharedValueStaysUntilItsLastReaderGoes) {
  const int turned = negated(rows);
  scatter(table, indices, turned);
  scatter(table, indices, turned);
  EXPECT_EQ(program.readers(turned), 2);
  EXPECT_EQ(program.readers(rows), 1);
  program.edit_kernel(0)->arguments[2] = rows;
  EXPECT_EQ(program.readers(turned), 1);
  EXPECT_EQ(program.readers(rows), 2);
  EXPECT_TRUE(program.is_needed(0));
}

TEST_F(Graph, RollbackLeavesNothing) {
  const int before = scatter(table, indices, rows), turned = negated(rows);
  const size_t values = program.values().size();
  const Program::Checkpoint point = program.checkpoint();
  program.add_output({"x", scatter(before, indices, negated(turned))});
  program.add_opaque({"MatMul", "m", {turned}, {before}, "", false});
  input("more", {2});
  EXPECT_EQ(program.readers(before), 2);
  EXPECT_TRUE(program.is_needed(0));
  program.rollback(point);
  EXPECT_EQ(program.values().size(), values);
  EXPECT_EQ(program.inputs().size(), 3U);
  EXPECT_EQ(program.kernels().size(), 1U);
  EXPECT_EQ(program.computes().size(), 1U);
  EXPECT_TRUE(program.opaques().empty() && program.outputs().empty());
  EXPECT_EQ(program.readers(before), 0);
  EXPECT_FALSE(program.is_needed(0));
  EXPECT_EQ(program.compute(0).disposition, ComputeDisposition::interpreted) << "as before";
  program.add_output({"x", scatter(before, indices, turned)});
  EXPECT_EQ(program.readers(turned), 1);
}

TEST_F(Graph, AnErasedKernelsResultIsNoValue) {
  const int first = scatter(table, indices, rows), second = scatter(table, indices, rows), third = scatter(second, indices, rows);
  program.add_output({"third", third});
  EXPECT_EQ(program.readers(rows), 3);
  program.erase_merged({1, -1, -1});
  ASSERT_EQ(program.kernels().size(), 2U);
  EXPECT_EQ(program.value(first).kind, ValueKind::none);
  EXPECT_EQ(program.kernel_of(second)->name, "k1");
  EXPECT_EQ(program.kernel_of(third)->name, "k2");
  EXPECT_EQ(program.last_kernel(third), 1);
  EXPECT_EQ(program.readers(rows), 2);
}

TEST_F(Graph, AResultOfAComputeBecomesAnInputOrAKernels) {
  const int turned = negated(rows), kept = negated(rows);
  const int result = scatter(table, indices, turned), after = negated(result);
  program.add_output({"after", after});
  program.add_output({"kept", kept});
  program.become_input(turned, {"turned", {DType::f32, {3, 4}, {}}, false});
  EXPECT_EQ(program.value(turned).kind, ValueKind::input);
  EXPECT_EQ(program.input(3).name, "turned");
  EXPECT_EQ(program.readers(rows), 1) << "kept still reads them";
  program.become_result(after, 0, ComputeDisposition::fused);
  EXPECT_EQ(program.kernel_of(after), &program.kernel(0));
  EXPECT_EQ(program.readers(result), 0);
  EXPECT_EQ(program.readers(after), 1);
}

TEST_F(Graph, LongChainsAreNoRecursion) {
  int last = rows;
  for (int i = 0; i < 200'000; ++i) last = negated(last);
  scatter(table, indices, last);
  EXPECT_EQ(program.readers(rows), 1);
  program.edit_kernel(0, ComputeDisposition::fused)->arguments[2] = rows;
  EXPECT_FALSE(program.is_needed(0));
}

TEST_F(Graph, UnsoundPartsAreRefused) {
  scatter(table, indices, rows);
  ProgramParts parts = program.parts();
  parts.kernels[0].arguments[2] = 17;
  EXPECT_THAT(Program::of(parts).status().message(), HasSubstr("kernel 0: the imported program is wrong: value 17 does not exist"));
  parts.kernels[0].arguments[2] = rows;
  const Expected<Program> again = Program::of(std::move(parts));
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->readers(rows), 1);
}

}  // namespace
}  // namespace strew
