// Programs as steps of a library: what is a step, what is known before, where tensors lie, and what is refused. That results are right is tested by
// strew_program_differential and tests/library/programs_test.py.
#include "compiler/program/steps/steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "backends/reference/reference.h"
#include "compiler/program/buffers.h"
#include "runtime/program_steps.h"
#include "strew/schedule.h"
#include "tests/support/paths.h"
#include "tests/support/programs.h"
#include "tests/unit/compiler/import/stablehlo_testing.h"

namespace strew::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

Program program(const std::string& text) {
  Expected<Program> made = import_mlir_text(text, {});
  EXPECT_TRUE(made.ok()) << made.status().message();
  return made.ok() ? std::move(*made) : Program();
}

ProgramSteps steps(const Program& of, const StepOptions& options = {}) {
  Expected<ProgramSteps> found = steps_of(of, options);
  EXPECT_TRUE(found.ok()) << found.status().message();
  return found.ok() ? std::move(*found) : ProgramSteps();
}

std::string refusal(const Program& of, const StepOptions& options = {}) {
  const Expected<ProgramSteps> found = steps_of(of, options);
  return found.ok() ? "" : found.status().message();
}

constexpr const char* kAdds =
    R"("stablehlo.scatter"(%c, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
    inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
  }) : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>
)";

/// %c: f32[8,4], %i: i32[3,1], %u: f32[3,4].
Program function(const std::string& body, const std::string& result, const std::string& type = "tensor<8x4xf32>") {
  return program("func.func @main(%c: tensor<8x4xf32>, %i: tensor<3x1xi32>, %u: tensor<3x4xf32>) -> " + type + " {\n" + body +
                 "  return " + result + " : " + type + "\n}");
}

std::string places(const Step& step) {
  std::string out;
  for (const StepOperand& operand : step.operands)
    out += operand.place == StepPlace::tensor     ? "t" + std::to_string(operand.number)
           : operand.place == StepPlace::constant ? "c"
                                                  : "a";
  return out;
}

TEST(Steps, KernelsReadAndWriteTheCallersTensors) {
  const ProgramSteps found = steps(function(std::string("  %r = ") + kAdds, "%r"));
  ASSERT_THAT(found.steps, SizeIs(1));
  EXPECT_EQ(places(found.steps[0]), "t3t0t1t2");  // result, operand, indices, updates
  EXPECT_EQ(found.arena_bytes, 0);
  ASSERT_THAT(found.tensors, SizeIs(4));
  EXPECT_EQ(found.tensors[0].use, TensorUse::input);
  EXPECT_EQ(found.tensors[3].use, TensorUse::output);
}

TEST(Steps, AnInputThatIsUpdatedIsResultAndOperand) {
  StepOptions options;
  options.in_place = {{"arg0", "result0"}};
  const ProgramSteps found = steps(function(std::string("  %r = ") + kAdds, "%r"), options);
  ASSERT_THAT(found.steps, SizeIs(1));
  EXPECT_EQ(places(found.steps[0]), "t0t0t1t2");
  ASSERT_THAT(found.tensors, SizeIs(3));
  EXPECT_EQ(found.tensors[0].use, TensorUse::updated);
  EXPECT_EQ(found.tensors[0].updated, "result0");
}

TEST(Steps, WhatFollowsFromConstantsIsAConstant) {
  const ProgramSteps found =
      steps(function("  %0 = stablehlo.constant dense<2.0> : tensor<f32>\n"
                     "  %1 = stablehlo.sqrt %0 : tensor<f32>\n"
                     "  %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<8x4xf32>\n"
                     "  %r = " +
                         std::string(kAdds).replace(std::string(kAdds).find("%c"), 2, "%2"),
                     "%r"));
  ASSERT_THAT(found.steps, SizeIs(1));
  for (const StepOperand& operand : found.steps[0].operands)
    EXPECT_NE(operand.place, StepPlace::arena) << "the broadcast is not computed by the call";
}

TEST(Steps, TensorsThatAreNotUsedAtOneTimeShareTheArena) {
  // Each exponential waits for a sum over all of the one before, so that the three are kernels apart.
  std::string body = "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n";
  std::string last = "%c";
  for (int n = 0; n < 3; ++n) {
    const std::string e = "%e" + std::to_string(n), t = "%t" + std::to_string(n), s = "%s" + std::to_string(n),
                      b = "%b" + std::to_string(n);
    body += "  " + e + " = stablehlo.exponential " + last + " : tensor<8x4xf32>\n";
    body += "  " + s + " = stablehlo.reduce(" + e +
            " init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, "
            "tensor<f32>) -> tensor<f32>\n";
    body += "  " + b + " = stablehlo.broadcast_in_dim " + s + ", dims = [] : (tensor<f32>) -> tensor<8x4xf32>\n";
    body += "  " + t + " = stablehlo.divide " + e + ", " + b + " : tensor<8x4xf32>\n";
    last = t;
  }
  const std::string adds = std::string(kAdds).replace(std::string(kAdds).find("%c"), 2, last);
  const ProgramSteps found = steps(function(body + "  %r = " + adds, "%r"));
  int64_t tensors = 0;
  for (const Step& step : found.steps)
    for (const StepOperand& operand : step.operands)
      tensors += operand.place == StepPlace::arena && operand.type.dims == std::vector<int64_t>{8, 4} ? 1 : 0;
  EXPECT_GE(tensors, 6);
  EXPECT_LE(found.arena_bytes, 3 * 128 + 64) << "at most two tensors of 128 bytes and a sum are used at one time";
}

TEST(Steps, ExtentsThatAreOpenAreGiven) {
  const Program open = program(
      "func.func @main(%c: tensor<?x4xf32>, %i: tensor<3x1xi32>) -> tensor<3x4xf32> {\n"
      "  %r = \"stablehlo.gather\"(%c, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], "
      "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>} : (tensor<?x4xf32>, tensor<3x1xi32>) -> "
      "tensor<3x4xf32>\n  return %r : tensor<3x4xf32>\n}");
  EXPECT_THAT(open_extents(open), ElementsAre("arg0.0"));
  EXPECT_THAT(refusal(open), HasSubstr("extents: dim 0 of input 'arg0' is open, expected the extent of 'arg0.0'"));
  StepOptions options;
  options.extents = {{"arg0.0", -1}};
  EXPECT_THAT(refusal(open, options), HasSubstr("extents: 'arg0.0' is -1, expected 0 or more"));
  options.extents = {{"arg0.0", 5}};
  EXPECT_THAT(steps(open, options).tensors[0].type.dims, ElementsAre(5, 4));
  options.extents["arg0.1"] = 4;
  EXPECT_THAT(refusal(open, options), HasSubstr("extents: no input has an open extent 'arg0.1', did you mean 'arg0.0'?"));
}

TEST(Steps, WhatIsOnlyInterpretedIsRefusedByItsPlace) {
  const std::string scan = refusal(function(
      std::string(
          "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
          "  %1 = \"stablehlo.reduce_window\"(%u, %z) <{window_dimensions = array<i64: 3, 1>, padding = dense<[[2, 0], [0, "
          "0]]> : tensor<2x2xi64>}> ({\n"
          "    ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"
          "      %t = stablehlo.add %p, %q : tensor<f32>\n"
          "      stablehlo.return %t : tensor<f32>\n"
          "  }) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>\n"
          "  %r = ") +
          std::string(kAdds).replace(std::string(kAdds).find("%u"), 2, "%1"),
      "%r"));
  EXPECT_THAT(scan, HasSubstr("stablehlo.reduce_window: no kernel does this operation, it is only interpreted"));
}

TEST(Steps, PartsOfAConcatenationAreWrittenIntoTheCallersTensor) {
  const ProgramSteps found = steps(
      function(std::string("  %r = ") + kAdds +
                   "  %n = stablehlo.negate %u : tensor<3x4xf32>\n"
                   "  %z = stablehlo.constant dense<1.0> : tensor<1x4xf32>\n"
                   "  %o = stablehlo.concatenate %n, %r, %z, dim = 0 : (tensor<3x4xf32>, tensor<8x4xf32>, tensor<1x4xf32>) -> "
                   "tensor<12x4xf32>\n",
               "%o", "tensor<12x4xf32>"));
  ASSERT_THAT(found.steps, SizeIs(4));
  EXPECT_EQ(places(found.steps[1]).substr(0, 2), "t3") << "the negated rows";
  EXPECT_EQ(found.steps[1].operands[0].first, 0);
  EXPECT_EQ(found.steps[2].kind, StepKind::copy);
  EXPECT_EQ(places(found.steps[2]), "at3");
  EXPECT_EQ(found.steps[2].operands[1].first, 3 * 4 * 4);
  EXPECT_EQ(found.steps[3].kind, StepKind::copy);
  EXPECT_EQ(places(found.steps[3]), "ct3");
  EXPECT_EQ(found.steps[3].operands[1].first, 11 * 4 * 4);
  EXPECT_EQ(found.arena_bytes, 8 * 4 * 4);
}

/// As run_reference(); counts its calls.
StepOptions known_options(int* calls) {
  StepOptions options;
  options.run_known = [calls](const VerifiedOp& op, std::span<const TensorView> tensors, BadIndex* bad) {
    ++*calls;
    return run_reference(op, tensors, bad);
  };
  return options;
}

TEST(Steps, KernelsThatReadOnlyConstantsAreRunBefore) {
  std::string known = kAdds;
  for (const auto& [from, to] : {std::pair("%c", "%0"), std::pair("%i", "%1"), std::pair("%u", "%2")})
    known.replace(known.find(from), 2, to);
  const std::string first =
      "  %0 = stablehlo.constant dense<1.0> : tensor<8x4xf32>\n"
      "  %1 = stablehlo.constant dense<[[1], [2], [1]]> : tensor<3x1xi32>\n"
      "  %2 = stablehlo.constant dense<3.0> : tensor<3x4xf32>\n"
      "  %k = " +
      known;
  const std::string adds = std::string(kAdds).replace(std::string(kAdds).find("%c"), 2, "%k");
  int calls = 0;
  const Program of = function(first + "  %m = " + adds + "  %r = stablehlo.negate %m : tensor<8x4xf32>\n", "%r");
  const ProgramSteps found = steps(of, known_options(&calls));
  EXPECT_EQ(calls, 2) << "one in the run that finds the dims, and one in that which finds the steps";
  ASSERT_THAT(found.steps, SizeIs(3)) << "the update writes over a copy of what is known";
  EXPECT_EQ(places(found.steps[0]), "ca");
  EXPECT_EQ(places(found.steps[1]), "aat1t2");
  EXPECT_EQ(places(found.steps[2]), "t3ca");
  Rng rng(3);
  std::vector<Tensor> tensors = random_inputs(of, rng);
  const auto want = run_copy(of, tensors, "reference");
  ASSERT_TRUE(want.ok()) << want.status().message();
  tensors.push_back(std::move(make_tensor(DType::f32, {8, 4}).value()));
  std::vector<TensorView> views;
  for (const Tensor& tensor : tensors) views.push_back(tensor.view());
  Runtime runtime;
  const Status done = run_steps(runtime, found, views, {}, {});
  ASSERT_TRUE(done.ok()) << done.message();
  EXPECT_EQ(std::memcmp(tensors[3].data.data(), (*want)[0].data.data(), 8 * 4 * 4), 0);
}

TEST(Steps, IntegersThatAreNotEqualFailTheRun) {
  // That ids are below the number of segments is checked before the sum.
  Expected<Program> imported = import_file((source_folder() / "tests/models/tflite/bincount/model.tflite").string(), {});
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  const ProgramSteps found = steps(*imported);
  EXPECT_EQ(std::ranges::count(found.steps, StepKind::equal, &Step::kind), 1);
  Tensor ids = std::move(make_tensor(DType::i32, {12}).value()), sums = std::move(make_tensor(DType::i32, {6}).value());
  const std::vector<TensorView> views{ids.view(), sums.view()};
  Runtime runtime;
  EXPECT_TRUE(run_steps(runtime, found, views, {}, {}).ok());
  reinterpret_cast<int32_t*>(ids.data.data())[3] = 6;
  EXPECT_EQ(run_steps(runtime, found, views, {}, {}).message(),
            "the number of segment ids that are not less than num_segments is 1, expected 0");
}

/// Runs the steps that a cache has or makes of the program, into the caller's outputs.
std::optional<std::vector<Tensor>> run_cached(StepCache& cache, const Program& of, const std::vector<Tensor>& inputs,
                                              const ProgramOptions& options, std::vector<Tensor>& outputs) {
  std::vector<std::unique_ptr<Tensor>> given;
  for (const Tensor& input : inputs)
    given.push_back(std::make_unique<Tensor>(Tensor{input.dtype, input.dims, input.data.share(), {}}));
  Runtime runtime;
  BufferPool buffers;
  int64_t waits = 0;
  std::vector<TensorView> views;
  for (const Tensor& output : outputs) views.push_back(output.view());
  ProgramOutputs places = std::move(ProgramOutputs::of(of, views).value());
  return cache.run(runtime, of, given, options, &places, buffers, waits);
}

TEST(StepCache, KeepsStepsForTheLastEightSetsOfDims) {
  const Program open = program(
      "func.func @main(%c: tensor<?x4xf32>, %i: tensor<3x1xi32>) -> tensor<3x4xf32> {\n"
      "  %r = \"stablehlo.gather\"(%c, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], "
      "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>} : (tensor<?x4xf32>, tensor<3x1xi32>) -> "
      "tensor<3x4xf32>\n  return %r : tensor<3x4xf32>\n}");
  StepCache cache;
  ProgramOptions options;
  options.interpreted_elements = 0;
  Rng rng(5);
  for (const int64_t rows : {3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 3, 12, 4}) {
    std::vector<Tensor> inputs;
    inputs.push_back(random_tensor({DType::f32, {rows, 4}, {}}, rng));
    inputs.push_back(std::move(make_tensor(DType::i32, {3, 1}).value()));
    for (int64_t i = 0; i < 3; ++i) reinterpret_cast<int32_t*>(inputs[1].data.data())[i] = static_cast<int32_t>(rows - 1 - i);
    std::vector<Tensor> outputs;
    outputs.push_back(std::move(make_tensor(DType::f32, {3, 4}).value()));
    ASSERT_TRUE(run_cached(cache, open, inputs, options, outputs).has_value()) << rows;
    const auto want = run_copy(open, inputs, "reference");
    ASSERT_TRUE(want.ok()) << want.status().message();
    EXPECT_EQ(std::memcmp(outputs[0].data.data(), (*want)[0].data.data(), 3 * 4 * 4), 0) << rows;
  }
}

TEST(StepCache, StepsWhoseKernelCannotBeHadAreNotTriedAgain) {
  // The scatter's rows have owners; nothing of a sum of two tensors has.
  const Program of = program(
      "func.func @main(%c: tensor<8x4xf32>, %i: tensor<3x1xi32>, %u: tensor<3x4xf32>) -> (tensor<8x4xf32>, tensor<3x4xf32>) {\n"
      "  %r = " +
      std::string(kAdds) +
      "  %n = stablehlo.add %u, %u : tensor<3x4xf32>\n"
      "  return %r, %n : tensor<8x4xf32>, tensor<3x4xf32>\n}");
  Rng rng(5);
  std::vector<Tensor> inputs = random_inputs(of, rng);
  for (int64_t i = 0; i < 3; ++i) reinterpret_cast<int32_t*>(inputs[1].data.data())[i] = static_cast<int32_t>(i);
  const auto outputs_of = [] {
    std::vector<Tensor> out;
    out.push_back(std::move(make_tensor(DType::f32, {8, 4}).value()));
    out.push_back(std::move(make_tensor(DType::f32, {3, 4}).value()));
    return out;
  };
  const auto is_written = [](const Tensor& tensor) {
    return std::any_of(tensor.data.data(), tensor.data.data() + tensor.data.size(),
                       [](std::byte b) { return b != std::byte{0}; });
  };
  StepCache cache;
  ProgramOptions options;
  options.interpreted_elements = 0;
  options.kernel.schedule = parse_schedule_text("strategy=owner").value().knobs;
  std::vector<Tensor> first = outputs_of(), second = outputs_of();
  EXPECT_FALSE(run_cached(cache, of, inputs, options, first).has_value());
  EXPECT_TRUE(is_written(first[0])) << "the first kernel has run";
  EXPECT_FALSE(run_cached(cache, of, inputs, options, second).has_value());
  EXPECT_FALSE(is_written(second[0])) << "nothing has";
}

TEST(Steps, NamesOfInPlaceAreChecked) {
  const Program adds = function(std::string("  %r = ") + kAdds, "%r");
  const auto with = [&](std::vector<std::pair<std::string, std::string>> in_place) {
    StepOptions options;
    options.in_place = std::move(in_place);
    return refusal(adds, options);
  };
  EXPECT_THAT(with({{"d", "result0"}}), HasSubstr("in_place: the program has no input 'd'"));
  EXPECT_THAT(with({{"arg0", "result"}}), HasSubstr("in_place: the program has no output 'result', did you mean 'result0'?"));
  EXPECT_THAT(with({{"arg2", "result0"}}), HasSubstr("in_place: output 'result0' is [8,4], expected [3,4], as input 'arg2' is"));
  EXPECT_THAT(with({{"arg1", "result0"}}), HasSubstr("in_place: output 'result0' is of f32, expected i32, as input 'arg1' is"));
  EXPECT_THAT(with({{"arg0", "result0"}, {"arg0", "result0"}}), HasSubstr("is named twice"));
}

}  // namespace
}  // namespace strew::test
