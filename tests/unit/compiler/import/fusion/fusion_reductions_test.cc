// Bags: reductions, over index positions, of what a gather gives, in StableHLO. Each form runs with and without fusion to the same bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/compiler/import/fusion/fusion_testing.h"

namespace strew {
namespace {

using test::folded;
using test::Lists;
using test::replaced;
using testing::HasSubstr;
using testing::Not;

const Lists kIndices{{0, 2, 6, 3, 5, 1}, {3, 3, 3}, {6, -1, 3, 7}, {-5, 100, 2}, {INT32_MAX, INT32_MIN, 0}};

/// %g[5,3,4] is gathered from x[7,4] by i[5,3,1]; w[5,3]; `compute` may define %v from it, of which `dims` are reduced by `function` from `initial`.
std::string bags(const std::string& dims, const std::string& result, const std::string& compute = "",
                 const std::string& function = "add", const std::string& initial = "0.0") {
  const std::string reduced = compute.empty() ? "%g" : "%v";
  return "func.func @main(%x: tensor<7x4xf32>, %i: tensor<5x3x1xi32>, %w: tensor<5x3xf32>) -> tensor<" + result +
         "> {\n"
         "  %g = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = "
         "[0], "
         "start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 4>}> : (tensor<7x4xf32>, tensor<5x3x1xi32>) "
         "-> "
         "tensor<5x3x4xf32>\n" +
         compute + "  %z = stablehlo.constant dense<" + initial + "> : tensor<f32>\n  %r = stablehlo.reduce(" + reduced +
         " init: %z) applies stablehlo." + function + " across dimensions = [" + dims +
         "] : (tensor<5x3x4xf32>, tensor<f32>) -> tensor<" + result + ">\n  return %r : tensor<" + result + ">\n}\n";
}
const std::string kWeighted =
    "  %f = stablehlo.broadcast_in_dim %w, dims = [0, 1] : (tensor<5x3xf32>) -> tensor<5x3x4xf32>\n"
    "  %v = stablehlo.multiply %g, %f : tensor<5x3x4xf32>\n";

TEST(FusionReductions, ABagOfRows) {
  const std::string text = folded(bags("1", "5x4xf32"), kIndices);
  EXPECT_THAT(text, HasSubstr("1; "));
  EXPECT_THAT(text,
              HasSubstr("fused: the reduction of stablehlo.reduce of line 4: rows are looked up and combined, and not stored"));
  EXPECT_THAT(text,
              HasSubstr("strew1.scatter(operand=f32[5,4] indices=i32[5,3,0] updates=f32[5,3,4] lookups=[updates(0)=gather("));
  EXPECT_THAT(text, HasSubstr("combiner=add init=fill fill=0:f32"));
  EXPECT_THAT(text, HasSubstr("indices_are_sorted=true"));
}

TEST(FusionReductions, EveryPolicyOfTheGather) {
  for (const OobPolicy policy :
       {OobPolicy::clamp, OobPolicy::wrap, OobPolicy::error, OobPolicy::fill_element, OobPolicy::fill_window}) {
    ImportOptions options;
    options.gather_oob = policy;
    const Lists lists = policy == OobPolicy::error ? Lists{{0, 2, 6, 3}} : kIndices;
    EXPECT_THAT(folded(bags("1", "5x4xf32", kWeighted), lists, options), HasSubstr("1; ")) << name(policy);
    options = {};
    options.override_oob = true;
    options.oob = policy;
    EXPECT_THAT(folded(bags("1", "5x4xf32"), lists, options), HasSubstr("1; ")) << name(policy);
  }
}

TEST(FusionReductions, WeightsAndOtherFunctions) {
  const std::string text = folded(bags("1", "5x4xf32", kWeighted), kIndices);
  EXPECT_THAT(text, HasSubstr("extras=[per_position:f32[5,3]]"));
  EXPECT_THAT(text, HasSubstr("and 1 elementwise operation before it"));
  for (const char* function : {"maximum", "minimum", "multiply", "add"})
    EXPECT_THAT(folded(bags("1", "5x4xf32", kWeighted, function, "-1.5"), kIndices), HasSubstr("fill=-1.5:f32")) << function;
}

TEST(FusionReductions, WhichDims) {
  // The destination is not the outermost position: it comes back, so it is not sorted.
  const std::string outer = folded(bags("0", "3x4xf32"), kIndices);
  EXPECT_THAT(outer, HasSubstr("operand=f32[3,4] indices=i32[5,3,0]"));
  EXPECT_THAT(outer, Not(HasSubstr("indices_are_sorted")));
  EXPECT_THAT(folded(bags("0, 1", "4xf32", kWeighted), kIndices), HasSubstr("operand=f32[4] indices=i32[5,3,0]"));
  // A window's dim is no position.
  EXPECT_THAT(folded(bags("2", "5x3xf32"), kIndices), HasSubstr("1; strew1.gather"));
  EXPECT_THAT(folded(bags("1, 2", "5xf32"), kIndices), HasSubstr("1; strew1.gather"));
}

TEST(FusionReductions, AnotherReaderKeepsTheGather) {
  std::string both = bags("1", "5x4xf32");
  both = replaced(replaced(both, "-> tensor<5x4xf32> {", "-> (tensor<5x4xf32>, tensor<5x3x4xf32>) {"),
                  "return %r : tensor<5x4xf32>", "return %r, %g : tensor<5x4xf32>, tensor<5x3x4xf32>");
  EXPECT_THAT(folded(both, kIndices), HasSubstr("1; strew1.gather"));
}

/// The initial value is known only at the call.
TEST(FusionReductions, AnInitialValueOfTheCall) {
  std::string text = replaced(bags("1", "5x4xf32"), "%w: tensor<5x3xf32>", "%z: tensor<f32>");
  text = replaced(text, "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n", "");
  const std::string scatter = folded(text, kIndices);
  EXPECT_THAT(scatter, HasSubstr("strew1.scatter(operand=f32[5,4]"));
  EXPECT_THAT(scatter, Not(HasSubstr("init=fill")));
}

/// Weights that a later kernel makes are not there when the gather's kernel runs.
TEST(FusionReductions, WhatALaterKernelMakes) {
  const std::string later =
      "  %h = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = "
      "[0], "
      "start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 4>}> : (tensor<7x4xf32>, tensor<5x3x1xi32>) -> "
      "tensor<5x3x4xf32>\n"
      "  %v = stablehlo.multiply %g, %h : tensor<5x3x4xf32>\n";
  const std::string text = folded(bags("1", "5x4xf32", later), kIndices);
  EXPECT_THAT(text, HasSubstr("2; "));
  EXPECT_THAT(
      text,
      HasSubstr("strew1.scatter(operand=f32[5,4]"));  // the later gather takes the reduction, and reads what the first has made
}

}  // namespace
}  // namespace strew
