// verify(ProgramParts): programs of the front ends pass it (every import runs it), and each wrong number in one is found and named.
#include "compiler/program/verify_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "compiler/import/import_bytes.h"
#include "strew/run_program.h"
#include "strew/runtime.h"
#include "tests/support/onnx_writer.h"

namespace strew::testing {
namespace {

using ::testing::HasSubstr;

/// Values 0 to 2 are the inputs data f32[?,4], indices i64[?,1] and updates f32[?,1]; a constant, a Compute (u = updates * 2) and a kernel follow.
ProgramParts program() {
  OnnxModel model = onnx_scatter_model("ScatterElements", {kSymbolic, 4}, {kSymbolic, 1}, {kSymbolic, 1});
  model.initializers = {{"two", kFloat, {}, std::string("\0\0\0\x40", 4)}};
  model.nodes.insert(model.nodes.begin(), {"Mul", "mul", "", {"updates", "two"}, {"u"}, {}});
  model.nodes[1].inputs[2] = "u";
  model.nodes[1].attributes = {onnx_int("axis", 1)};
  ImportOptions options;
  options.fuse = false;
  Expected<Program> out = import_bytes(model.bytes(), "m.onnx", options);
  EXPECT_TRUE(out.ok()) << out.status().message();
  return out.ok() ? std::move(*out).parts() : ProgramParts{};
}

int value_of(const ProgramParts& imported, ValueKind kind) {
  for (size_t v = 0; v < imported.values.size(); ++v)
    if (imported.values[v].kind == kind) return static_cast<int>(v);
  return -1;
}

/// A condition of the second of two kernels reads what strew does not compute: that is found before the first one runs.
TEST(VerifyProgram, WhatConditionsNeedIsKnownBeforeAnythingRuns) {
  OnnxModel model = onnx_scatter_model("ScatterElements", {8, 4}, {3, 4}, {3, 4});
  OnnxNode again = model.nodes[0];
  const std::string last = again.outputs[0];
  again.name = "again";
  again.inputs[0] = model.nodes[0].outputs[0] = "first";
  model.nodes.push_back(again);
  Expected<Program> imported = import_bytes(model.bytes(), "m.onnx", {});
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  ASSERT_EQ(imported->kernels().size(), 2U);
  Value length;
  length.kind = ValueKind::opaque;
  length.index = imported->add_opaque({"Lengths", "m.onnx: node lengths (Lengths)", {}, {}, "", false});
  length.type = {DType::i64, {}, {}};
  const int added = imported->add_value(length);
  imported->edit_kernel(1)->arguments.push_back({ArgumentUse::non_negative, added});
  const Status verified = imported->verify();
  ASSERT_TRUE(verified.ok()) << verified.message();
  Runtime runtime;
  const auto out = run_program(runtime, *imported, std::vector<std::unique_ptr<Tensor>>(imported->inputs().size()), {});
  EXPECT_EQ(out.status().code(), Code::unsupported);
  EXPECT_THAT(out.status().message(), HasSubstr("node lengths (Lengths): strew does not run this operation"));
  EXPECT_EQ(runtime.stats().misses, 0U) << "no kernel was asked for";
}

TEST(VerifyProgram, WrongNumbersAreFound) {
  ASSERT_TRUE(verify(program()).ok());
  struct Row {
    std::function<void(ProgramParts&)> change;
    const char* message;
  };
  const auto kernel = [](ProgramParts& m) -> ProgramKernel& { return m.kernels[0]; };
  const auto add = [&](ProgramParts& m, KernelArgument argument) { kernel(m).arguments.push_back(std::move(argument)); };
  const auto of = [](ProgramParts& m, ValueKind kind) -> Value& { return m.values[static_cast<size_t>(value_of(m, kind))]; };
  const Row rows[] = {
      {[](ProgramParts& m) { m.nodes[0].results[0] = 99; }, "node 0: the imported program is wrong: value 99 does not exist"},
      {[](ProgramParts& m) { m.nodes[1].arguments[0] = 99; }, "node 1: the imported program is wrong: value 99 does not exist"},
      {[](ProgramParts& m) { m.nodes[1].region = 0; }, "node 1: the imported program is wrong: no such region"},
      {[&](ProgramParts& m) { kernel(m).arguments[1] = 99; }, "kernel 0: the imported program is wrong: value 99 does not exist"},
      {[&](ProgramParts& m) { kernel(m).arguments[1] = -1; }, "value -1 does not exist"},
      {[&](ProgramParts& m) { kernel(m).arguments.erase(kernel(m).arguments.begin()); }, "another number of arguments"},
      {[&](ProgramParts& m) { std::swap(kernel(m).arguments.front(), kernel(m).arguments.back()); },
       "its tensors are not its first arguments"},
      {[&](ProgramParts& m) { std::swap(kernel(m).arguments[0], kernel(m).arguments[1]); }, "an argument of another type"},
      {[&](ProgramParts& m) { kernel(m).arguments[2] = value_of(m, ValueKind::result); }, "it reads what a later kernel gives"},
      {[&](ProgramParts& m) {
         add(m, {ArgumentUse::non_negative, 99});
       },
       "value 99 does not exist"},
      {[&](ProgramParts& m) {
         add(m, {ArgumentUse::non_negative, 0});
       },
       "what must not be negative is no integer"},
      {[&](ProgramParts& m) {
         add(m, {ArgumentUse::slice_sizes, 99});
       },
       "value 99 does not exist"},
      {[&](ProgramParts& m) {
         add(m, {ArgumentUse::slice_sizes, 1});
       },
       "slice_sizes is no list"},
      {[&](ProgramParts& m) {
         add(m, {ArgumentUse::result_shape, 1});
       },
       "result_shape is no list"},
      {[&](ProgramParts& m) { add(m, KernelArgument::equal_extents(0, 0, 99, 0, "a", "b")); }, "value 99 does not exist"},
      {[&](ProgramParts& m) { add(m, KernelArgument::equal_extents(0, 2, 0, 0, "a", "b")); },
       "an extent that is compared is no dim"},
      {[&](ProgramParts& m) { add(m, KernelArgument::equal_scalars(99, 0, "a", "")); }, "value 99 does not exist"},
      {[&](ProgramParts& m) { add(m, KernelArgument::equal_scalars(1, 1, "a", "")); }, "what is compared is no integer"},
      {[&](ProgramParts& m) { m.values[2].is_typed = false; }, "it reads a value without a type"},
      {[&](ProgramParts& m) { of(m, ValueKind::input).index = 3; }, "value 0: the imported program is wrong: no such input"},
      {[&](ProgramParts& m) { of(m, ValueKind::constant).index = 1; }, "no such constant"},
      {[&](ProgramParts& m) { m.constants[0].data.pop_back(); }, "a constant of another size than its type's"},
      {[&](ProgramParts& m) { of(m, ValueKind::compute).index = 1; }, "no such compute"},
      {[&](ProgramParts& m) { of(m, ValueKind::compute).result = 1; }, "no such result of a compute"},
      {[&](ProgramParts& m) { of(m, ValueKind::result).index = 1; }, "no such result"},
      {[&](ProgramParts& m) { of(m, ValueKind::result).result = 1; }, "no such result"},
      {[&](ProgramParts& m) { m.values[0].like = 99; }, "value 99 does not exist"},
      {[&](ProgramParts& m) { m.values[0].like = 1, m.values[0].like_dim = 2; }, "like_dim is no dim"},
      {[&](ProgramParts& m) { m.computes[0].arguments[0] = 99; },
       "compute 0: the imported program is wrong: value 99 does not exist"},
      {[&](ProgramParts& m) { m.computes[0].arguments[0] = value_of(m, ValueKind::compute); }, "needs itself"},
      {[&](ProgramParts& m) { m.computes[0].op = TransposeOp{}; }, "transpose"},
      {[&](ProgramParts& m) { std::get<MapOp>(m.computes[0].op).function.nodes[0].index = 5; },
       "map: expr node %0, extra:f32, reads number 5"},
      {[&](ProgramParts& m) { m.outputs[0].value = 99; }, "value 99 does not exist"},
      {[&](ProgramParts& m) {
         m.opaques.push_back({"A", "", {99}, {}, "", false});
       },
       "value 99 does not exist"},
      {[&](ProgramParts& m) {
         m.opaques.push_back({"A", "", {}, {99}, "", false});
       },
       "value 99 does not exist"},
  };
  for (const Row& row : rows) {
    ProgramParts wrong = program();
    row.change(wrong);
    EXPECT_THAT(verify(wrong).message(), HasSubstr(row.message));
    EXPECT_THAT(Program::of(std::move(wrong)).status().message(), HasSubstr(row.message));
  }
}

}  // namespace
}  // namespace strew::testing
