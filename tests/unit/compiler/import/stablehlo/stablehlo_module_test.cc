// Functions as JAX lowers them: what stands around the kernels is imported as Computes and runs with them.
#include <gmock/gmock.h>

#include <cstring>

#include "strew/import.h"
#include "strew/run_program.h"
#include "tests/unit/compiler/import/stablehlo_testing.h"

namespace strew {
namespace {

using testing::ElementsAre;

template <class T>
std::unique_ptr<Tensor> tensor(DType dtype, std::vector<int64_t> dims, const std::vector<T>& values) {
  auto out = std::make_unique<Tensor>(make_tensor(dtype, std::move(dims)).value());
  std::memcpy(out->data.data(), values.data(), values.size() * sizeof(T));
  return out;
}

template <class... T>
std::vector<std::unique_ptr<Tensor>> list(T... tensors) {
  std::vector<std::unique_ptr<Tensor>> out;
  (out.push_back(std::move(tensors)), ...);
  return out;
}

std::vector<float> run(const std::string& text, std::vector<std::unique_ptr<Tensor>> inputs) {
  const auto imported = import_mlir_text(text);
  EXPECT_TRUE(imported.ok()) << imported.status().message();
  if (!imported.ok()) return {};
  Runtime runtime;
  ProgramOptions options;
  options.kernel.backend = BackendChoice::reference;
  const auto out = run_program(runtime, *imported, std::move(inputs), options);
  EXPECT_TRUE(out.ok()) << out.status().message();
  if (!out.ok()) return {};
  std::vector<float> values(static_cast<size_t>((*out)[0].elements()));
  std::memcpy(values.data(), (*out)[0].data.data(), values.size() * sizeof(float));
  return values;
}

/// x.at[i].get(mode="fill", fill_value=9) of a vector.
constexpr char kFill[] = R"(func.func @main(%x: tensor<5xf32>, %i: tensor<4xi32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<5> : tensor<4xi32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<i32>) -> tensor<4xi32>
  %low = stablehlo.compare LT, %i, %zeros, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %up = stablehlo.add %i, %n : tensor<4xi32>
  %k = func.call @where(%low, %up, %i) : (tensor<4xi1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %v = stablehlo.reshape %k : (tensor<4xi32>) -> tensor<4x1xi32>
  %ge = stablehlo.compare GE, %k, %zeros, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %lt = "stablehlo.compare"(%k, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %and = stablehlo.and %ge, %lt : tensor<4xi1>
  %r = "stablehlo.gather"(%x, %v) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<5xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  %nine = stablehlo.constant dense<9.0> : tensor<4xf32>
  %out = stablehlo.select %and, %r, %nine : tensor<4xi1>, tensor<4xf32>
  return %out : tensor<4xf32>
}
func.func private @where(%p: tensor<4xi1>, %a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> {
  %0 = stablehlo.select %p, %a, %b : tensor<4xi1>, tensor<4xi32>
  return %0 : tensor<4xi32>
}
)";

TEST(StablehloModule, FillModeRunsWhole) {
  EXPECT_THAT(run(kFill, list(tensor<float>(DType::f32, {5}, {0, 1, 2, 3, 4}), tensor<int32_t>(DType::i32, {4}, {2, -1, 5, -6}))),
              ElementsAre(2, 4, 9, 9));
  const auto imported = import_mlir_text(kFill);
  ASSERT_TRUE(imported.ok());
  ASSERT_EQ(imported->kernels().size(), 1u);
  ASSERT_EQ(imported->computes().size(), 8u);
  EXPECT_EQ(imported->compute(0).op, ComputeOp::map);
  for (const Compute& compute : imported->computes())
    EXPECT_EQ(compute.disposition, ComputeDisposition::folded) << compute.location;
  EXPECT_EQ(imported->value(imported->outputs()[0].value).kind, ValueKind::result);
}

TEST(StablehloModule, ReduceInBothForms) {
  const std::string head = "%c = stablehlo.constant dense<0> : tensor<i32>\n",
                    tail = "%r = stablehlo.dynamic_slice %x, %s, sizes = [1] : (tensor<5xf32>, tensor<i32>) -> tensor<1xf32>";
  const std::string pretty =
      "%s = stablehlo.reduce(%i init: %c) applies stablehlo.maximum across dimensions = [0] : "
      "(tensor<3xi32>, tensor<i32>) -> tensor<i32>\n";
  const std::string region =
      "%s = \"stablehlo.reduce\"(%i, %c) <{dimensions = array<i64: 0>}> ({\n^bb0(%a: tensor<i32>, %b: tensor<i32>):\n"
      "%m = stablehlo.maximum %a, %b : tensor<i32>\nstablehlo.return %m : tensor<i32>\n}) : (tensor<3xi32>, tensor<i32>) -> "
      "tensor<i32>\n";
  for (const std::string& reduce : {pretty, region}) {
    const std::string text = main_function("%x: tensor<5xf32>, %i: tensor<3xi32>", head + reduce + tail, "%r", "tensor<1xf32>");
    EXPECT_THAT(run(text, list(tensor<float>(DType::f32, {5}, {0, 10, 20, 30, 40}), tensor<int32_t>(DType::i32, {3}, {1, 3, 2}))),
                ElementsAre(30));
  }
}

TEST(StablehloModule, DynamicGatherTakesItsSizesFromATensor) {
  const std::string text =
      main_function("%x: tensor<4x3xf32>, %i: tensor<2xi32>, %n: tensor<2xi32>",
                    "%r = \"stablehlo.dynamic_gather\"(%x, %i, %n) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], "
                    "collapsed_slice_dims = [0], start_index_map = [0, 1]>}> : (tensor<4x3xf32>, tensor<2xi32>, tensor<2xi32>) "
                    "-> tensor<?xf32>",
                    "%r", "tensor<?xf32>");
  EXPECT_THAT(run(text, list(tensor<float>(DType::f32, {4, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}),
                             tensor<int32_t>(DType::i32, {2}, {2, 2}), tensor<int32_t>(DType::i32, {2}, {1, 2}))),
              ElementsAre(7, 8));
}

TEST(StablehloModule, RefusesWhatDoesNotFit) {
  const auto reason = [](const std::string& line) {
    const auto imported = import_mlir_text(
        main_function("%x: tensor<4xf32>, %i: tensor<i32>",
                      line + "\n%r = stablehlo.dynamic_slice %x, %i, sizes = [1] : (tensor<4xf32>, tensor<i32>) -> tensor<1xf32>",
                      "%r", "tensor<1xf32>"));
    EXPECT_TRUE(imported.ok()) << imported.status().message();
    return imported.ok() && imported->opaques().size() == 1 ? imported->opaque(0).reason : "not one opaque operation";
  };
  EXPECT_EQ(reason("%k = stablehlo.iota dim = 1 : tensor<4xi32>"), "iota_dimension is 1, expected 0 to 0");
  EXPECT_EQ(reason("%k = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<4xf32>) -> tensor<5x4xf32>"),
            "operand dim 0 is 4, expected 1 or 5");
  EXPECT_EQ(reason("%k = stablehlo.reshape %x : (tensor<4xf32>) -> tensor<5xf32>"), "f32[4] has 4 elements, expected 5");
  EXPECT_EQ(reason("%k = stablehlo.slice %x [1:5] : (tensor<4xf32>) -> tensor<4xf32>"),
            "dim 0: 1:5:1, expected 0 <= start <= limit <= extent and stride >= 1");
  EXPECT_EQ(reason("%k = stablehlo.transpose %x, dims = [1] : (tensor<4xf32>) -> tensor<4xf32>"),
            "permutation holds 1, expected each of 0 to 0 once at most");
  EXPECT_EQ(reason("%k = stablehlo.compare LT, %x, %x, SIGNED : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>"),
            "compare_type SIGNED on f32, expected FLOAT");
  EXPECT_EQ(reason("%k = \"stablehlo.sort\"(%x) : (tensor<4xf32>) -> tensor<4xf32>"), "");
}

}  // namespace
}  // namespace strew
