// Products by one-hot tensors in StableHLO: which become look-ups, and that these give what the product gives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/compiler/import/fusion/fusion_testing.h"

namespace strew {
namespace {

using test::replaced;
using testing::HasSubstr;

/// one_hot(i) x t, as JAX writes it: %t is 5x3, and five indices of seven are in bounds. `product` defines %r of it.
std::string module(const std::string& product, const std::string& type, const std::string& dtype = "i32") {
  const std::string text =
      "func.func @main(%i: tensor<7xi32>, %t: tensor<5x3xDT>, %j: tensor<2x1xi32>) -> (TYPE, tensor<2x3xDT>) {\n"
      "  %0 = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<7xi32>) -> tensor<7x5xi32>\n"
      "  %1 = stablehlo.iota dim = 1 : tensor<7x5xi32>\n"
      "  %2 = stablehlo.compare EQ, %0, %1, SIGNED : (tensor<7x5xi32>, tensor<7x5xi32>) -> tensor<7x5xi1>\n"
      "  %h = stablehlo.convert %2 : (tensor<7x5xi1>) -> tensor<7x5xDT>\n"
      "PRODUCT\n"
      "  %g = \"stablehlo.gather\"(%t, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = "
      "[0], "
      "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<5x3xDT>, tensor<2x1xi32>) -> "
      "tensor<2x3xDT>\n"
      "  return %r, %g : TYPE, tensor<2x3xDT>\n}\n";
  return replaced(replaced(replaced(text, "PRODUCT", product), "TYPE", type), "DT", dtype);
}
const std::string kPretty =
    "  %r = stablehlo.dot_general %h, %t, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<7x5xDT>, "
    "tensor<5x3xDT>) -> tensor<7x3xDT>";
const std::string kGeneric =
    "  %r = \"stablehlo.dot_general\"(%h, %t) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], "
    "rhs_contracting_dimensions = [0]>}> : (tensor<7x5xDT>, tensor<5x3xDT>) -> tensor<7x3xDT>";
const std::string kLeft =
    "  %r = stablehlo.dot_general %t, %h, contracting_dims = [0] x [1] : (tensor<5x3xDT>, tensor<7x5xDT>) -> tensor<3x7xDT>";
const std::string kConstant =
    "  %c = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [1.5, 2.5, -3.5], [0.0, 1.0, 2.0]]> : "
    "tensor<5x3xf32>\n" +
    replaced(kPretty, "%t", "%c");

const std::vector<int64_t> kIndices{0, 4, 2, 5, -1, 2, 1};

/// The first kernel's op, after a run that is compared with the sum of products; or why there is none.
std::string looked_up(const std::string& text) {
  const Expected<Program> program = import_mlir_text(text);
  EXPECT_TRUE(program.ok()) << program.status().message();
  if (!program.ok()) return "";
  if (!program->opaques().empty()) return program->opaque(0).reason;
  test::Rng rng(3);
  const std::vector<Tensor> inputs = test::inputs_with(*program, kIndices, rng);
  for (const char* backend : {"reference", "auto"}) {
    const auto results = test::run_copy(*program, inputs, backend);
    EXPECT_TRUE(results.ok()) << results.status().message();
    if (!results.ok()) return "";
    const Tensor &got = (*results)[0], &table = inputs[1];
    const bool is_turned = got.dims[0] == 3;
    for (int64_t n = 0; n < 7; ++n)
      for (int64_t w = 0; w < 3 && is_integer(got.dtype); ++w) {
        int64_t sum = 0;
        for (int64_t k = 0; k < 5; ++k)
          sum += decode_i64(table.dtype, load_element(table.dtype, table.data.data(), k * 3 + w).bits[0]) *
                 (kIndices[static_cast<size_t>(n)] == k ? 1 : 0);
        const Scalar element = load_element(got.dtype, got.data.data(), is_turned ? w * 7 + n : n * 3 + w);
        EXPECT_EQ(decode_i64(got.dtype, element.bits[0]), sum) << backend << " " << n << " " << w;
      }
  }
  return print(program->kernel(0).op);
}

TEST(OneHot, AProductOfIntegersIsALookUp) {
  const char* const wanted =
      "strew1.gather(operand=i32[5,3] indices=i32[7] result=i32[7,3] offset_dims=[1] collapsed_slice_dims=[0] "
      "start_index_map=[0] "
      "index_vector_dim=1 slice_sizes=[1,3] oob=fill_window fill=0:i32)";
  EXPECT_EQ(looked_up(module(kPretty, "tensor<7x3xi32>")), wanted);
  EXPECT_EQ(looked_up(module(kGeneric, "tensor<7x3xi32>")), wanted);
  EXPECT_THAT(looked_up(module(kPretty, "tensor<7x3xi8>", "i8")), HasSubstr("oob=fill_window"));
}

TEST(OneHot, TheTableMayStandOnTheLeft) {
  EXPECT_THAT(looked_up(module(kLeft, "tensor<3x7xi32>")),
              HasSubstr("operand=i32[5,3] indices=i32[7] result=i32[3,7] offset_dims=[0]"));
}

TEST(OneHot, OfFloatsOnlyConstantsThatKeepSums) {
  EXPECT_THAT(looked_up(module(kPretty, "tensor<7x3xf32>", "f32")), HasSubstr("x * 0 is NaN where x is infinite or NaN"));
  EXPECT_THAT(looked_up(module(kConstant, "tensor<7x3xf32>", "f32")), HasSubstr("strew1.gather(operand=f32[5,3] indices=i32[7]"));
  for (const char* bad : {"-0.0, 1.0, 2.0", "0x7F800000, 1.0, 2.0", "0x7FC00000, 1.0, 2.0"})
    EXPECT_THAT(looked_up(module(replaced(kConstant, "0.0, 1.0, 2.0", bad), "tensor<7x3xf32>", "f32")),
                HasSubstr("no look-up in f32"))
        << bad;
}

TEST(OneHot, WhatIsAlmostOneIsNone) {
  const std::string text = module(kPretty, "tensor<7x3xi32>");
  EXPECT_EQ(looked_up(replaced(text, "compare EQ", "compare LE")), "") << "several ones in a row";
  EXPECT_EQ(looked_up(replaced(text, "iota dim = 1", "iota dim = 0")), "") << "the number of the row";
}

}  // namespace
}  // namespace strew
