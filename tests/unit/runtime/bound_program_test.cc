// Bound programs: they give what run_program_into() gives, in buffers of their own and in place, from several threads; and what is refused.
#include "runtime/bound_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/compiler/import/stablehlo_testing.h"

namespace strew::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Program program(const std::string& text) {
  Expected<Program> made = import_mlir_text(text, {});
  EXPECT_TRUE(made.ok()) << made.status().message();
  return made.ok() ? std::move(*made) : Program();
}

/// %x: f32[4], %i: i32[3,1], %u: f32[3].
Program function(const std::string& body, const std::string& results, const std::string& types) {
  return program("func.func @main(%x: tensor<4xf32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>) -> (" + types + ") {\n" + body +
                 "  return " + results + " : " + types + "\n}");
}

/// %NAME = %x with %u added at %i.
std::string adds(const std::string& name, const std::string& updates = "%u") {
  return "  " + name + R"( = "stablehlo.scatter"(%x, %i, )" + updates + R"() <{scatter_dimension_numbers =
    #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<4xf32>
)";
}

struct Data {
  std::array<float, 4> x{1, 2, 3, 4};
  std::array<int32_t, 3> i{2, 0, 2};
  std::array<float, 3> u{10, 20, 30};
};

std::string refusal(const Program& of, std::span<const int> in_place) {
  const Expected<BoundProgram> bound = BoundProgram::make(of, Runtime::process(), {}, in_place);
  return bound.ok() ? "" : bound.status().message();
}

TEST(BoundProgram, RunsOneKernel) {
  const Program adding = function(adds("%r"), "%r", "tensor<4xf32>");
  const Expected<BoundProgram> bound = BoundProgram::make(adding, Runtime::process());
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  Data data;
  std::array<float, 4> result{};
  for (int call = 0; call < 3; ++call) {
    const Status status = bound->run(std::array<void*, 4>{data.x.data(), data.i.data(), data.u.data(), result.data()});
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_THAT(result, ElementsAre(21, 2, 43, 4));
    EXPECT_THAT(data.x, ElementsAre(1, 2, 3, 4));
  }
}

TEST(BoundProgram, UpdatesAnInputInPlace) {
  const std::array<int, 1> in_place = {0};
  const Expected<BoundProgram> bound =
      BoundProgram::make(function(adds("%r"), "%r", "tensor<4xf32>"), Runtime::process(), {}, in_place);
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  Data data;
  const Status status = bound->run(std::array<void*, 4>{data.x.data(), data.i.data(), data.u.data(), data.x.data()});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(data.x, ElementsAre(21, 2, 43, 4));
}

// The second output is made of the input as it was, though the first one lies in its buffer.
TEST(BoundProgram, AnInputThatIsReadElsewhereIsNotLost) {
  const Program both = function(adds("%r") + "  %n = stablehlo.negate %u : tensor<3xf32>\n" + adds("%q", "%n"), "%r, %q",
                                "tensor<4xf32>, tensor<4xf32>");
  const std::array<int, 2> in_place = {0, -1};
  const Expected<BoundProgram> bound = BoundProgram::make(both, Runtime::process(), {}, in_place);
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  std::vector<std::thread> threads;
  std::array<std::array<float, 4>, 4> first{}, second{};
  for (size_t t = 0; t < first.size(); ++t)
    threads.emplace_back([&, t] {
      for (int call = 0; call < 50; ++call) {
        Data data;
        EXPECT_TRUE(
            bound->run(std::array<void*, 5>{data.x.data(), data.i.data(), data.u.data(), data.x.data(), second[t].data()}).ok());
        first[t] = data.x;
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (size_t t = 0; t < first.size(); ++t) {
    EXPECT_THAT(first[t], ElementsAre(21, 2, 43, 4));
    EXPECT_THAT(second[t], ElementsAre(-19, 2, -37, 4));
  }
}

TEST(BoundProgram, RefusesOtherBuffers) {
  const std::array<int, 1> in_place = {0};
  const Program adding = function(adds("%r"), "%r", "tensor<4xf32>");
  const BoundProgram apart = *BoundProgram::make(adding, Runtime::process());
  const BoundProgram within = *BoundProgram::make(adding, Runtime::process(), {}, in_place);
  Data data;
  std::array<float, 8> result{};
  const auto message = [&](const BoundProgram& bound, std::vector<void*> buffers) { return bound.run(buffers).message(); };
  void *const x = data.x.data(), *const i = data.i.data(), *const u = data.u.data(), *const r = result.data();
  EXPECT_THAT(message(apart, {x, i, u}), HasSubstr("data: 3 addresses, expected 4"));
  EXPECT_THAT(message(apart, {x, nullptr, u, r}), HasSubstr("data: 'arg1' is null"));
  EXPECT_THAT(message(apart, {x, i, u, x}), HasSubstr("data: 'result0' overlaps 'arg0'"));
  EXPECT_THAT(message(apart, {r, i, u, result.data() + 3}), HasSubstr("overlaps 'arg0'"));
  EXPECT_THAT(message(within, {x, i, u, r}), HasSubstr("'result0' has an address of its own, expected that of 'arg0'"));
  EXPECT_THAT(message(within, {r, i, r, r}), HasSubstr("overlaps 'arg2'"));
  EXPECT_THAT(data.x, ElementsAre(1, 2, 3, 4));
}

TEST(BoundProgram, RefusesWhatItCannotBind) {
  const Program adding = function(adds("%r"), "%r", "tensor<4xf32>");
  EXPECT_THAT(refusal(adding, std::array{0, 0}), HasSubstr("in_place: 2 numbers, expected 1"));
  EXPECT_THAT(refusal(adding, std::array{3}), HasSubstr("output 0 has input 3, expected -1 or the number of one of 3 inputs"));
  EXPECT_THAT(refusal(adding, std::array{-2}), HasSubstr("has input -2"));
  EXPECT_THAT(refusal(adding, std::array{2}), HasSubstr("expected [3], as input 'arg2' is"));
  EXPECT_THAT(refusal(adding, std::array{1}), HasSubstr("is of f32, expected i32"));
  std::string text = "func.func @main(%x: tensor<4xf32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>) -> tensor<4xf32> {\n" +
                     adds("%r") + "  return %r : tensor<4xf32>\n}";
  for (size_t at = text.find("<4x"); at != std::string::npos; at = text.find("<4x")) text.replace(at, 3, "<?x");
  const Program open = program(text);
  EXPECT_THAT(refusal(open, {}), HasSubstr("dim 0 of input 'arg0' is open"));
}

}  // namespace
}  // namespace strew::test
