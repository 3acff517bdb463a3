// The update idiom x[i] = f(x[i], u) in StableHLO: where it becomes one scatter, where it must not; and each form runs with and without folding
// to the same bits, at indices that are in bounds, out of bounds and repeated where that is allowed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/compiler/import/fusion/fusion_testing.h"

namespace strew {
namespace {

using test::folded;
using test::inputs_with;
using test::Lists;
using test::replaced;

using testing::HasSubstr;
using testing::Not;

/// x[7,4], i[3,1], u[3,4]; `compute` defines %v.
std::string rows(const std::string& compute, const std::string& unique = "true") {
  return "func.func @main(%x: tensor<7x4xf32>, %i: tensor<3x1xi32>, %u: tensor<3x4xf32>) -> tensor<7x4xf32> {\n"
         "  %g = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = "
         "[0], "
         "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<7x4xf32>, tensor<3x1xi32>) -> "
         "tensor<3x4xf32>\n" +
         compute +
         "\n  %r = \"stablehlo.scatter\"(%x, %i, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], "
         "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = " +
         unique +
         "}> ({\n  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n    stablehlo.return %b : tensor<f32>\n"
         "  }) : (tensor<7x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<7x4xf32>\n  return %r : tensor<7x4xf32>\n}\n";
}
const std::string kScale = "  %v = stablehlo.multiply %g, %u : tensor<3x4xf32>";
/// In bounds, and not; what is out of bounds may repeat, because the scatter drops it.
const Lists kUnique{{0, 2, 6}, {6, -1, 3}, {-5, 100, 2}, {7, 7, 1}, {INT32_MAX, INT32_MIN, 0}};
const Lists kRepeated{{0, 2, 6}, {3, 3, 3}, {1, 5, 1}, {7, 2, 2}};

TEST(FusionUpdate, RowsBecomeOneScatter) {
  const std::string text = folded(rows(kScale), kUnique);
  EXPECT_THAT(text, HasSubstr("1; fused with stablehlo.gather of line 2 and 1 elementwise operation: 'unique'"));
  EXPECT_THAT(text, HasSubstr("combiner=mul"));
  // A function that is no named combiner, with constants, and the gathered value read three times.
  const std::string longer =
      folded(rows("  %k = stablehlo.constant dense<2.5> : tensor<3x4xf32>\n  %p = stablehlo.tanh %g : tensor<3x4xf32>\n"
                  "  %q = stablehlo.add %p, %k : tensor<3x4xf32>\n  %s = stablehlo.subtract %u, %q : tensor<3x4xf32>\n"
                  "  %t = stablehlo.multiply %s, %g : tensor<3x4xf32>\n  %v = stablehlo.maximum %t, %g : tensor<3x4xf32>"),
             kUnique);
  EXPECT_THAT(longer, HasSubstr("1; fused with stablehlo.gather of line 2 and 5 elementwise operations"));
}

TEST(FusionUpdate, NothingButWhatWasGathered) {
  const std::string text = folded(rows("  %v = stablehlo.exponential %g : tensor<3x4xf32>"), kUnique);
  EXPECT_THAT(text, HasSubstr("1; fused with"));
  EXPECT_THAT(text, HasSubstr("updates=f32[3,4]"));
}

TEST(FusionUpdate, RepeatedIndicesAreNoFold) {
  const std::string text = folded(rows(kScale, "false"), kRepeated);
  EXPECT_THAT(text, HasSubstr("1; not one update in place: no 'unique'"));
  EXPECT_THAT(text, Not(HasSubstr("combiner=mul")));
}

TEST(FusionUpdate, AnotherOperandOrIndexIsLookedUp) {
  const std::string other = replaced(replaced(rows(kScale), "\"stablehlo.gather\"(%x,", "\"stablehlo.gather\"(%y,"),
                                     "(%x: tensor<7x4xf32>,", "(%x: tensor<7x4xf32>, %y: tensor<7x4xf32>,");
  EXPECT_THAT(folded(other, kUnique), HasSubstr("1; not one update in place: stablehlo.gather of line 2 reads another tensor"));
  const std::string moved = replaced(replaced(rows(kScale), "\"stablehlo.gather\"(%x, %i)", "\"stablehlo.gather\"(%x, %j)"),
                                     "%i: tensor<3x1xi32>,", "%i: tensor<3x1xi32>, %j: tensor<3x1xi32>,");
  EXPECT_THAT(folded(moved, kUnique), HasSubstr("1; not one update in place: stablehlo.gather of line 2 has other indices"));
}

TEST(FusionUpdate, OtherReadersKeepTheGather) {
  const std::string both = replaced(replaced(rows(kScale), "-> tensor<7x4xf32> {", "-> (tensor<7x4xf32>, tensor<3x4xf32>) {"),
                                    "return %r : tensor<7x4xf32>", "return %r, %g : tensor<7x4xf32>, tensor<3x4xf32>");
  EXPECT_THAT(folded(both, kUnique),
              HasSubstr("2; not one update in place: the result of stablehlo.gather of line 2 is read by"));
  // What is computed has another reader: then there is no idiom, and the gather computes it.
  EXPECT_THAT(folded(replaced(both, "return %r, %g", "return %r, %v"), kUnique), HasSubstr("2; strew1"));
}

TEST(FusionUpdate, AnErrorIsStillReported) {
  ImportOptions gather_reports;
  gather_reports.gather_oob = OobPolicy::error;
  EXPECT_THAT(
      folded(rows(kScale), {{0, 2, 6}}, gather_reports),
      HasSubstr("1; not one update in place: policies error of stablehlo.gather of line 2 and skip_element of the scatter"));
  ImportOptions both_report;
  both_report.override_oob = true;
  both_report.oob = OobPolicy::error;
  EXPECT_THAT(folded(rows(kScale), {{0, 2, 6}}, both_report), HasSubstr("1; fused"));
  const auto imported = import_mlir_text(rows(kScale), both_report);
  test::Rng rng(2);
  const auto outside = test::run_copy(*imported, inputs_with(*imported, {0, 9, 2}, rng), "reference");
  EXPECT_EQ(outside.status().code(), Code::out_of_bounds);
}

/// The promise is about indices as the file has them: clamped by the caller, two of them may meet.
TEST(FusionUpdate, PoliciesThatMoveIndicesAreNoUpdate) {
  ImportOptions clamps;
  clamps.override_oob = true;
  clamps.oob = OobPolicy::clamp;
  EXPECT_THAT(folded(rows(kScale), {{0, 2, 6}, {7, 8, 9}, {-1, 0, 3}}, clamps),
              HasSubstr("1; not one update in place: policies clamp"));
}

/// x[7,4], windows of two rows at i[3,1]: they may overlap partly, whatever unique_indices says of the indices.
TEST(FusionUpdate, WindowsThatMayOverlapAreNoUpdate) {
  std::string text = replaced(rows("  %v = stablehlo.multiply %g, %u : tensor<3x4xf32>"), "tensor<3x4xf32>", "tensor<3x2x4xf32>");
  text = replaced(text, "offset_dims = [1], collapsed_slice_dims = [0]", "offset_dims = [1, 2]");
  text = replaced(text, "array<i64: 1, 4>", "array<i64: 2, 4>");
  text = replaced(text, "update_window_dims = [1], inserted_window_dims = [0]", "update_window_dims = [1, 2]");
  EXPECT_THAT(folded(text, {{0, 2, 4}, {1, 2, 3}, {6, 0, 1}}),
              HasSubstr("1; not one update in place: windows at different indices"));
}

TEST(FusionUpdate, IndicesThatAreComputedTwice) {
  const std::string index =
      "  %z = stablehlo.constant dense<0> : tensor<3x1xi32>\n  %n = stablehlo.constant dense<7> : tensor<3x1xi32>\n"
      "  %t = stablehlo.compare LT, %i, %z : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x1xi1>\n"
      "  %s = stablehlo.add %i, %n : tensor<3x1xi32>\n  %k = stablehlo.select %t, %s, %i : tensor<3x1xi1>, tensor<3x1xi32>\n";
  std::string again = index;
  for (const char* name : {"%z", "%n", "%t", "%s", "%k"}) again = replaced(again, name, std::string(name) + "2");
  std::string text = replaced(rows(kScale), "  %g =", index + "  %g =");
  text = replaced(text, "(%x, %i) <{dim", "(%x, %k) <{dim");
  text = replaced(text, "  %v =", again + "  %v =");
  text = replaced(text, "(%x, %i, %v)", "(%x, %k2, %v)");
  const std::string got = folded(text, {{0, 2, 6}, {-1, -7, 3}, {-8, 7, 1}});
  EXPECT_THAT(got, HasSubstr("1; "));
  EXPECT_THAT(got, HasSubstr("fused with stablehlo.gather of line 7"));
  EXPECT_THAT(got, HasSubstr("normalize_negative=true"));
}

/// One slice is updated in place: no promise is needed, and both clamp.
TEST(FusionUpdate, OneSlice) {
  const std::string text =
      "func.func @main(%x: tensor<7x4xf32>, %i: tensor<i32>, %u: tensor<2x4xf32>) -> tensor<7x4xf32> {\n"
      "  %z = stablehlo.constant dense<0> : tensor<i32>\n"
      "  %g = stablehlo.dynamic_slice %x, %i, %z, sizes = [2, 4] : (tensor<7x4xf32>, tensor<i32>, tensor<i32>) -> "
      "tensor<2x4xf32>\n"
      "  %v = stablehlo.subtract %u, %g : tensor<2x4xf32>\n"
      "  %r = stablehlo.dynamic_update_slice %x, %v, %i, %z : (tensor<7x4xf32>, tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> "
      "tensor<7x4xf32>\n  return %r : tensor<7x4xf32>\n}\n";
  const Lists starts{{0}, {3}, {5}, {6}, {100}, {-4}};
  EXPECT_THAT(folded(text, starts),
              HasSubstr("1; clamp is what the operation means: --oob does not apply; fused with "
                        "stablehlo.dynamic_slice of line 3 and 1 elementwise operation: one update per destination"));
  EXPECT_THAT(
      folded(replaced(text, "dynamic_update_slice %x, %v, %i, %z", "dynamic_update_slice %x, %v, %z, %z"), starts),
      HasSubstr("2; clamp is what the operation means: --oob does not apply; not one update in place: stablehlo.dynamic_slice "
                "of line 3 has other indices"));
}

/// x[3,7], one index per row: batching dims keep the destinations apart.
TEST(FusionUpdate, BatchesNeedNoPromise) {
  const std::string text =
      "func.func @main(%x: tensor<3x7xf32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>) -> tensor<3x7xf32> {\n"
      "  %g = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], "
      "operand_batching_dims = [0], "
      "start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : "
      "(tensor<3x7xf32>, tensor<3x1xi32>) -> tensor<3xf32>\n"
      "  %v = stablehlo.add %g, %u : tensor<3xf32>\n"
      "  %r = \"stablehlo.scatter\"(%x, %i, %v) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], "
      "input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = "
      "1>}> ({\n"
      "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n    stablehlo.return %b : tensor<f32>\n"
      "  }) : (tensor<3x7xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<3x7xf32>\n  return %r : tensor<3x7xf32>\n}\n";
  EXPECT_THAT(folded(text, {{2, 2, 2}, {0, 6, 7}, {-1, 3, 3}}), HasSubstr("1; fused with"));
}

/// Random functions of the gathered value at random positions, in and out of bounds, that differ where they are in bounds.
TEST(FusionUpdate, RandomPositions) {
  test::Rng rng(17);
  Lists lists;
  for (int round = 0; round < 12; ++round) {
    std::vector<int64_t> all(12);
    std::iota(all.begin(), all.end(), -3);
    for (size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[static_cast<size_t>(rng.below(i))]);
    all.resize(3);
    lists.push_back(all);
  }
  for (const std::string op : {"add", "subtract", "multiply", "divide", "minimum", "maximum", "power", "atan2"})
    for (const std::string arguments : {"%g, %u", "%u, %g", "%g, %g"})
      EXPECT_THAT(folded(rows("  %v = stablehlo." + op + " " + arguments + " : tensor<3x4xf32>"), lists),
                  HasSubstr("1; fused with"));
}

}  // namespace
}  // namespace strew
