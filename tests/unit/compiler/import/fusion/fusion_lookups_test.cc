// Gathers that become look-ups of the scatter that reads them, in StableHLO: each form runs with and without fusion to the same bits, under all policies,
// at indices that are in bounds, out of bounds and repeated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/compiler/import/fusion/fusion_testing.h"

namespace strew {
namespace {

using test::folded;
using test::inputs_with;
using test::Lists;
using test::replaced;
using testing::HasSubstr;
using testing::Not;

const Lists kIndices{{0, 2, 6, 3}, {3, 3, 3}, {6, -1, 3, 7}, {-5, 100, 2}, {INT32_MAX, INT32_MIN, 0}};
const std::string kGather =
    "\"stablehlo.gather\"(TABLE) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], "
    "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<7x4xf32>, tensor<5x1xi32>) -> "
    "tensor<5x4xf32>";

std::string gather(const std::string& table, const std::string& indices) {
  return replaced(kGather, "TABLE", table + ", " + indices);
}

/// x[7,4], y[7,4], source i[5,1], destination j[5,1], weights w[5]; `compute` defines %v[5,4], which is scattered into %x.
std::string messages(const std::string& compute, const std::string& returned = "%r : tensor<7x4xf32>",
                     const std::string& types = "tensor<7x4xf32>") {
  return "func.func @main(%x: tensor<7x4xf32>, %y: tensor<7x4xf32>, %i: tensor<5x1xi32>, %j: tensor<5x1xi32>, %w: tensor<5xf32>) "
         "-> (" +
         types + ") {\n" + compute +
         "\n  %r = \"stablehlo.scatter\"(%x, %j, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], "
         "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n"
         "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n    %s = stablehlo.add %a, %b : tensor<f32>\n    stablehlo.return %s : "
         "tensor<f32>\n"
         "  }) : (tensor<7x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<7x4xf32>\n  return " +
         returned + "\n}\n";
}
const std::string kWeighted = "  %g = " + gather("%x", "%i") +
                              "\n  %f = stablehlo.broadcast_in_dim %w, dims = [0] : (tensor<5xf32>) -> tensor<5x4xf32>\n"
                              "  %v = stablehlo.multiply %g, %f : tensor<5x4xf32>";

TEST(FusionLookups, MessagesAlongEdges) {
  const std::string text = folded(messages(kWeighted), kIndices);
  EXPECT_THAT(text, HasSubstr("1; "));
  EXPECT_THAT(text, HasSubstr("fused with stablehlo.gather of line 2: its result (updates 0) is looked up, and not stored"));
  EXPECT_THAT(text, HasSubstr("lookups=[updates(0)=gather("));
  EXPECT_THAT(text, HasSubstr("extras=[per_position:f32[5]]"));
}

/// x[7,4] is the sum of itself and of %v[2,3,4], which `compute` makes of rows u[2,4] or columns w[2,3], at j[2,3,1].
std::string bags(const std::string& compute) {
  return "func.func @main(%x: tensor<7x4xf32>, %j: tensor<2x3x1xi32>, %u: tensor<2x4xf32>, %w: tensor<2x3xf32>) -> "
         "tensor<7x4xf32> {\n" +
         compute +
         "\n  %r = \"stablehlo.scatter\"(%x, %j, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], "
         "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({\n"
         "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n    %s = stablehlo.add %a, %b : tensor<f32>\n    stablehlo.return %s : "
         "tensor<f32>\n"
         "  }) : (tensor<7x4xf32>, tensor<2x3x1xi32>, tensor<2x3x4xf32>) -> tensor<7x4xf32>\n  return %r : tensor<7x4xf32>\n}\n";
}
std::string repeated(const std::string& dims, const std::string& of, const std::string& type) {
  return "  %v = stablehlo.broadcast_in_dim " + of + ", dims = " + dims + " : (" + type + ") -> tensor<2x3x4xf32>";
}

TEST(FusionLookups, RowsThatRepeatAlongPositionsAreReadWhereTheyLie) {
  const Lists indices{{0, 2, 6, 3, 3, 3}, {6, -1, 3, 7, 100, 0}, {INT32_MAX, INT32_MIN, 0, 0, 0, 0}};
  const std::string text = folded(bags(repeated("[0, 2]", "%u", "tensor<2x4xf32>")), indices);
  EXPECT_THAT(text,
              HasSubstr("lookups=[updates(0)=gather(operand=f32[2,4] indices=i32[2,3,0] result=f32[2,3,4] offset_dims=[2] "
                        "operand_batching_dims=[0] start_indices_batching_dims=[0] index_vector_dim=2 slice_sizes=[1,4])]"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "folded: the rows of updates 0 are read where they lie, and not repeated by stablehlo.broadcast_in_dim of line 2"));
  const std::string row =
      "  %l = stablehlo.slice %u [1:2, 0:4] : (tensor<2x4xf32>) -> tensor<1x4xf32>\n"
      "  %o = stablehlo.reshape %l : (tensor<1x4xf32>) -> tensor<4xf32>\n";
  EXPECT_THAT(folded(bags(row + repeated("[2]", "%o", "tensor<4xf32>")), indices),
              HasSubstr("gather(operand=f32[4] indices=i32[2,3,0]"));
  for (const std::string& other : {repeated("[0, 1]", "%w", "tensor<2x3xf32>"),  // an element along each row
                                   row + repeated("[1, 2]", "%l", "tensor<1x4xf32>")}) {
    const std::string stays = folded(bags(other), indices);
    EXPECT_THAT(stays, Not(HasSubstr("lookups"))) << other;
  }
}

TEST(FusionLookups, EveryPolicyKeepsItsMeaning) {
  for (const OobPolicy reads :
       {OobPolicy::clamp, OobPolicy::wrap, OobPolicy::error, OobPolicy::fill_element, OobPolicy::fill_window})
    for (const OobPolicy writes :
         {OobPolicy::skip_element, OobPolicy::skip_window, OobPolicy::clamp, OobPolicy::wrap, OobPolicy::error}) {
      ImportOptions options;
      options.gather_oob = reads;
      options.scatter_oob = writes;
      const Lists lists = reads == OobPolicy::error || writes == OobPolicy::error ? Lists{{0, 2, 6, 3}} : kIndices;
      const std::string text = folded(messages(kWeighted), lists, options);
      EXPECT_THAT(text, HasSubstr("lookups=[updates(0)=gather(")) << name(reads) << " " << name(writes);
    }
}

/// A policy that only gathers have is the look-up's; the scatter keeps its own, as in a file whose kernels are apart.
TEST(FusionLookups, APolicyOfGathers) {
  ImportOptions options;
  options.override_oob = true;
  options.oob = OobPolicy::fill_window;
  const std::string text = folded(messages(kWeighted), kIndices, options);
  EXPECT_THAT(text, HasSubstr("keeps its policy: a scatter has no fill_window"));
  EXPECT_THAT(text, HasSubstr("oob=fill_window"));
  options.oob = OobPolicy::skip_window;
  EXPECT_THAT(folded(messages(kWeighted), kIndices, options), HasSubstr("oob=skip_window"));
}

TEST(FusionLookups, TwoRowsOfOneProduct) {
  const std::string text = folded(messages("  %g = " + gather("%x", "%i") + "\n  %h = " + gather("%y", "%j") +
                                           "\n  %v = stablehlo.multiply %g, %h : tensor<5x4xf32>"),
                                  kIndices);
  EXPECT_THAT(text, HasSubstr("1; "));
  EXPECT_THAT(text, HasSubstr("lookups=[updates(0)=gather("));
  EXPECT_THAT(text, HasSubstr("extra(0)=gather("));
}

/// The weight of an edge is looked up by its source.
TEST(FusionLookups, ANumberPerPosition) {
  std::string compute = replaced(kWeighted, "broadcast_in_dim %w,", "broadcast_in_dim %n,");
  compute += "\n  %z = stablehlo.constant dense<0.0> : tensor<f32>";
  compute =
      "  %n = \"stablehlo.gather\"(%w, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = "
      "[0], "
      "index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<5xf32>, tensor<5x1xi32>) -> tensor<5xf32>\n" +
      compute;
  const std::string text = folded(messages(compute), kIndices);
  EXPECT_THAT(text, HasSubstr("1; "));
  EXPECT_THAT(text, HasSubstr("extras=[per_position:f32[5]] lookups=[updates(0)=gather("));
  EXPECT_THAT(text, HasSubstr("extra(0)=gather(operand=f32[5]"));
}

TEST(FusionLookups, AnotherReaderKeepsTheGather) {
  const std::string text = folded(
      messages("  %v = " + gather("%x", "%i"), "%r, %v : tensor<7x4xf32>, tensor<5x4xf32>", "tensor<7x4xf32>, tensor<5x4xf32>"),
      kIndices);
  EXPECT_THAT(text,
              HasSubstr("2; not looked up: the result of stablehlo.gather of line 2: another operation reads its result, too"));
  EXPECT_THAT(text, Not(HasSubstr("lookups")));
}

/// Two scatters, a sum and a maximum, of rows of `columns` elements that are looked up in a table of `rows` rows and weighted by `work`.
std::string two_scatters(int rows, int columns, const std::string& work = "multiply %g, %f") {
  std::string text =
      R"(func.func @main(%x: TABLE, %i: tensor<9x1xi32>, %j: tensor<9x1xi32>, %w: tensor<9xf32>) -> (TABLE, TABLE) {
  %g = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
    start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, COLUMNS>}> : (TABLE, tensor<9x1xi32>) -> SLICES
  %f = stablehlo.broadcast_in_dim %w, dims = [0] : (tensor<9xf32>) -> SLICES
  %v = stablehlo.WORK : SLICES
)";
  for (const char* const combine : {"add", "maximum"})
    text += std::string("  %") + combine + R"( = "stablehlo.scatter"(%x, %j, %v) <{scatter_dimension_numbers = #stablehlo.scatter<
    update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.)" +
            combine + R"( %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (TABLE, tensor<9x1xi32>, SLICES) -> TABLE
)";
  text += "  return %add, %maximum : TABLE, TABLE\n}\n";
  const std::string size = std::to_string(columns);
  text = replaced(replaced(text, "COLUMNS", size), "WORK", work);
  return replaced(replaced(text, "TABLE", "tensor<" + std::to_string(rows) + "x" + size + "xf32>"), "SLICES",
                  "tensor<9x" + size + "xf32>");
}

TEST(FusionLookups, TwoScattersLookTheSameRowsUp) {
  const std::string text = folded(two_scatters(7, 4), kIndices);
  EXPECT_THAT(text, HasSubstr("2; "));
  EXPECT_THAT(text, HasSubstr("looked up, and not stored, by 2 scatters: 32 bytes for each row, where stored rows cost 64"));
  EXPECT_THAT(text, HasSubstr("maximum")) << "the second scatter does the work, too";
  EXPECT_THAT(text, HasSubstr("multiply"));
  EXPECT_THAT(text, HasSubstr("lookups=[updates(0)=gather("));
}

/// Four bytes of a table that no cache holds cost a line each time.
TEST(FusionLookups, ShortRowsOfALargeTableAreStored) {
  const std::string text = folded(two_scatters(70'000, 1), {{0, 69'999, 3, 70'000, -1}});
  EXPECT_THAT(text, HasSubstr("3; "));
  EXPECT_THAT(text, Not(HasSubstr("lookups=")));
  const auto program = import_mlir_text(two_scatters(70'000, 1));
  ASSERT_TRUE(program.ok());
  EXPECT_THAT(program->kernel(1).notes,
              testing::Contains(HasSubstr("2 scatters read it, and each row would cost 128 bytes, where stored rows cost 76")));
}

/// A function that takes long is computed once.
TEST(FusionLookups, LongWorkIsDoneOnce) {
  const std::string text = folded(two_scatters(7, 4, "power %g, %f"), kIndices);
  EXPECT_THAT(text, HasSubstr("3; "));
  EXPECT_THAT(text, Not(HasSubstr("lookups=")));
  EXPECT_THAT(text, Not(HasSubstr("power")));
}

TEST(FusionLookups, AnErrorNamesTheLookup) {
  ImportOptions options;
  options.override_oob = true;
  options.oob = OobPolicy::error;
  const auto program = import_mlir_text(messages(kWeighted), options);
  ASSERT_TRUE(program.ok());
  ASSERT_EQ(program->kernels().size(), 1U);
  test::Rng rng(3);
  std::vector<Tensor> inputs = inputs_with(*program, {0, 1, 2}, rng);
  store_element(DType::i32, inputs[2].data.data(), 4, {DType::i32, {9, 0}});
  for (const char* backend : {"reference", "auto"}) {
    const Status status = test::run_copy(*program, inputs, backend).status();
    EXPECT_EQ(status.code(), Code::out_of_bounds);
    EXPECT_THAT(status.message(),
                HasSubstr("look-up of updates 0, position [4] (linear 4), component 0: value 9, expected 0 <= v <= 6"));
  }
}

/// As torch.gather does it: one index per element, which repeats along the row. An error has to name the file's position.
TEST(FusionLookups, APositionThatTheFileDoesNotHave) {
  const std::string compute =
      "  %e = stablehlo.broadcast_in_dim %i, dims = [0, 2] : (tensor<5x1xi32>) -> tensor<5x4x1xi32>\n"
      "  %v = \"stablehlo.gather\"(%x, %e) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], "
      "operand_batching_dims = [1], "
      "start_indices_batching_dims = [1], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : "
      "(tensor<7x4xf32>, tensor<5x4x1xi32>) -> tensor<5x4xf32>";
  EXPECT_THAT(folded(messages(compute), kIndices), HasSubstr("lookups=[updates(0)=gather("));
  ImportOptions options;
  options.gather_oob = OobPolicy::error;
  EXPECT_THAT(folded(messages(compute), {{0, 2, 6, 3}}, options),
              HasSubstr("2; not looked up: the result of stablehlo.gather of line 3: an error would name a position that the "
                        "file does not have"));
}

}  // namespace
}  // namespace strew
