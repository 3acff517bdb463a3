// Cuts of programs whose kernels have several results: each result of the cut is the one that the file has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "strew/partition.h"
#include "tests/support/programs.h"
#include "tests/unit/compiler/import/stablehlo_testing.h"

namespace strew::test {
namespace {

using ::testing::SizeIs;

/// A scatter of two pairs, which adds to %c and writes to %d; the outputs are the second result, the negated first one, and the second one's exponentials.
constexpr const char* kText = R"(
func.func @main(%c: tensor<8x4xf32>, %d: tensor<8x4xi32>, %i: tensor<3x1xi32>, %u: tensor<3x4xf32>, %v: tensor<3x4xi32>)
    -> (tensor<8x4xi32>, tensor<8x4xf32>, tensor<8x4xi32>) {
  %r:2 = "stablehlo.scatter"(%c, %d, %i, %u, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
    inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<i32>, %p: tensor<f32>, %q: tensor<i32>):
      %s = stablehlo.add %a, %p : tensor<f32>
      stablehlo.return %s, %q : tensor<f32>, tensor<i32>
  }) : (tensor<8x4xf32>, tensor<8x4xi32>, tensor<3x1xi32>, tensor<3x4xf32>, tensor<3x4xi32>) -> (tensor<8x4xf32>, tensor<8x4xi32>)
  %n = stablehlo.negate %r#0 : tensor<8x4xf32>
  %m = stablehlo.add %r#1, %r#1 : tensor<8x4xi32>
  return %r#1, %n, %m : tensor<8x4xi32>, tensor<8x4xf32>, tensor<8x4xi32>
})";

/// Runs the cut on those of the inputs that it has, by their names.
Expected<std::vector<Tensor>> run_cut(const Program& whole, const Program& part, std::vector<Tensor>& inputs) {
  std::vector<Tensor> own;
  for (const ProgramInput& input : part.inputs())
    for (size_t i = 0; i < whole.inputs().size(); ++i)
      if (whole.inputs()[i].name == input.name) own.push_back({inputs[i].dtype, inputs[i].dims, inputs[i].data.share(), {}});
  return run_copy(part, own, "reference");
}

TEST(Cut, EachResultOfAKernelIsItself) {
  const Expected<Program> whole = import_mlir_text(kText, {});
  ASSERT_TRUE(whole.ok()) << whole.status().message();
  ASSERT_THAT(whole->kernels(), SizeIs(1));
  Rng rng(7);
  std::vector<Tensor> inputs = random_inputs(*whole, rng);
  for (int64_t i = 0; i < 3; ++i) reinterpret_cast<int32_t*>(inputs[2].data.data())[i] = static_cast<int32_t>(2 * i + 1);
  const auto want = run_copy(*whole, inputs, "reference");
  ASSERT_TRUE(want.ok()) << want.status().message();
  for (const std::vector<size_t>& picked : std::vector<std::vector<size_t>>{{0}, {1}, {2}, {0, 1}, {1, 0}, {2, 1, 0}}) {
    std::vector<std::string> names;
    std::vector<Tensor> expected;
    for (const size_t o : picked) {
      names.push_back(whole->outputs()[o].name);
      expected.push_back({(*want)[o].dtype, (*want)[o].dims, (*want)[o].data.share(), {}});
    }
    const Expected<Program> part = cut(*whole, {}, names);
    ASSERT_TRUE(part.ok()) << part.status().message();
    EXPECT_TRUE(part->verify().ok()) << part->verify().message();
    EXPECT_EQ(difference(run_cut(*whole, *part, inputs), Expected<std::vector<Tensor>>(std::move(expected))), "")
        << ::testing::PrintToString(names);
  }
}

}  // namespace
}  // namespace strew::test
