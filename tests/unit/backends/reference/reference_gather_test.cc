// Gather on the reference, by hand: the StableHLO RFC's example, every policy, fill and expression, strides, corner shapes.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/backends/reference/reference_testing.h"

namespace strew {
namespace {

using namespace testing_reference;  // NOLINT: run, repeat, count_from

/// Windows of 2 from a vector of 5.
std::string window(const std::string& fields, const std::string& index = "i64") {
  return "strew1.gather(operand=i32[5] indices=" + index +
         "[3] result=i32[3,2] offset_dims=[1] start_index_map=[0] index_vector_dim=1 slice_sizes=[2] " + fields + ")";
}

TEST(ReferenceGather, RfcBatchingDimsExample) {
  EXPECT_EQ(run("strew1.gather(operand=i32[2,3,4,2] indices=i64[2,2,3,2] result=i32[2,2,3,2,2] offset_dims=[3,4] "
                "collapsed_slice_dims=[1] operand_batching_dims=[0] start_indices_batching_dims=[1] start_index_map=[2,1] "
                "index_vector_dim=3 slice_sizes=[1,1,2,2])",
                {count_from(1, 48), "0 0 1 0 2 1  0 1 1 1 0 9  0 0 2 1 2 2  1 2 0 1 1 0"}),
            "1 2 3 4 3 4 5 6 13 14 15 16 33 34 35 36 35 36 37 38 41 42 43 44 "
            "1 2 3 4 13 14 15 16 21 22 23 24 43 44 45 46 33 34 35 36 27 28 29 30");
}

TEST(ReferenceGather, Policies) {
  const std::string in = "1 2 3 4 5", indices = "-1 2 4";
  EXPECT_EQ(run(window("oob=clamp"), {in, indices}), "1 2 3 4 4 5");
  EXPECT_EQ(run(window("oob=wrap"), {in, indices}), "5 1 3 4 5 1");
  EXPECT_EQ(run(window("oob=fill_element fill=-7:i32"), {in, indices}), "-7 1 3 4 5 -7");
  EXPECT_EQ(run(window("oob=fill_window fill=-7:i32"), {in, indices}), "-7 -7 3 4 -7 -7");
  EXPECT_EQ(run(window("oob=undefined"), {in, "0 2 3"}), "1 2 3 4 4 5");
  EXPECT_EQ(run(window("oob=error"), {in, "3 0 4"}),
            "index out of bounds: index position [2] (linear 2), component 0: value 4, expected 0 <= v <= 3");
  EXPECT_EQ(run(window("oob=error"), {in, "3 0 1"}), "4 5 1 2 2 3");
}

TEST(ReferenceGather, NegativesAndExtremes) {
  const std::string in = "1 2 3 4 5";
  EXPECT_EQ(run(window("oob=fill_element fill=0:i32 normalize_negative=true"), {in, "-2 -6 -1"}), "4 5 0 1 5 0");
  EXPECT_EQ(run(window("oob=clamp"), {in, "-9223372036854775808 9223372036854775807 1"}), "1 2 4 5 2 3");
  EXPECT_EQ(run(window("oob=clamp", "u64"), {in, "18446744073709551615 0 1"}), "4 5 1 2 2 3");
  EXPECT_EQ(run(window("oob=fill_window fill=9:i32", "i8"), {in, "127 -128 3"}), "9 9 9 9 4 5");
}

TEST(ReferenceGather, FillStandsForTheGatheredElement) {
  EXPECT_EQ(
      run(window("oob=fill_element fill=10:i32 expr={%0=current(0):i32; %1=constant(3):i32; %2=multiply(%0,%1):i32; return %2}"),
          {"1 2 3 4 5", "-1 2 4"}),
      "30 3 9 12 15 30");
}

TEST(ReferenceGather, WithoutExpressionConverts) {
  EXPECT_EQ(run("strew1.gather(operand=f32[3] indices=i32[4] result=i8[4] collapsed_slice_dims=[0] start_index_map=[0] "
                "index_vector_dim=1 slice_sizes=[1] oob=fill_element fill=-3.75:f32)",
                {"1.5 -300 nan", "0 1 2 3"}),
            "1 -128 0 -3");
  EXPECT_EQ(run_bits("strew1.gather(operand=f32[3] indices=i32[3] result=f32[3] collapsed_slice_dims=[0] start_index_map=[0] "
                     "index_vector_dim=1 slice_sizes=[1])",
                     {"0x7f800001 -0 0xff812345", "2 0 1"}),
            "0xff812345 0x7f800001 -0");
}

TEST(ReferenceGather, ExtrasOfEveryKind) {
  EXPECT_EQ(
      run("strew1.gather(operand=f32[3,2] indices=i32[2] "
          "extras=[scalar:f32[],per_position:f32[2],per_window:f32[2],per_element:f32[2,2]] result=f32[2,2] offset_dims=[1] "
          "collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 slice_sizes=[1,2] "
          "expr={%0=current(0):f32; %1=extra(0):f32; %2=extra(1):f32; %3=extra(2):f32; %4=extra(3):f32; %5=multiply(%0,%1):f32; "
          "%6=multiply(%5,%2):f32; %7=add(%6,%3):f32; %8=add(%7,%4):f32; return %8})",
          {"1 2 3 4 5 6", "2 0", "10", "1 -1", "0.5 0.25", "100 200 300 400"}),
      "150.5 260.25 290.5 380.25");
}

TEST(ReferenceGather, OffsetDimsBeforePositions) {
  EXPECT_EQ(
      run("strew1.gather(operand=i32[5] indices=i64[3] result=i32[2,3] offset_dims=[0] start_index_map=[0] index_vector_dim=1 "
          "slice_sizes=[2])",
          {"1 2 3 4 5", "0 3 1"}),
      "1 4 2 2 5 3");
}

TEST(ReferenceGather, StridesAndPackedElements) {
  EXPECT_EQ(
      run("strew1.gather(operand=u4[2,3]{-1,4} indices=i32[2]{-2} result=u4[2,3]{3,-1} offset_dims=[1] collapsed_slice_dims=[0] "
          "start_index_map=[0] index_vector_dim=1 slice_sizes=[1,3])",
          {"1 2 3 4 5 6", "1 0"}),
      "4 5 6 1 2 3");
}

TEST(ReferenceGather, DynamicSliceSizes) {
  EXPECT_EQ(run("strew1.gather(operand=i32[?,3] indices=i32[1] result=i32[2,2] offset_dims=[0,1] start_index_map=[0] "
                "slice_sizes=[?,?])",
                {"[4,3] 1 2 3 4 5 6 7 8 9 10 11 12", "3"}),
            "7 8 10 11");
}

TEST(ReferenceGather, CornerShapes) {
  EXPECT_EQ(run("strew1.gather(operand=i32[] indices=i32[0] result=i32[] slice_sizes=[])", {"5", ""}), "5");
  EXPECT_EQ(run("strew1.gather(operand=i32[3] indices=i32[0] result=i32[0] collapsed_slice_dims=[0] start_index_map=[0] "
                "index_vector_dim=1 slice_sizes=[1])",
                {"1 2 3", ""}),
            "");
  EXPECT_EQ(run("strew1.gather(operand=i32[0] indices=i32[2] result=i32[2] collapsed_slice_dims=[0] start_index_map=[0] "
                "index_vector_dim=1 slice_sizes=[1] oob=fill_element fill=4:i32)",
                {"", "0 1"}),
            "slice_sizes is [1]; expected entry 0 from 0 to 0, dim 0 of operand i32[0] [gather_c21]");
}

TEST(ReferenceGather, SmallerBatchingDim) {  // ONNX GatherElements
  EXPECT_EQ(
      run("strew1.gather(operand=i32[3,2] indices=i32[2,3] result=i32[2,3] collapsed_slice_dims=[1] operand_batching_dims=[0] "
          "start_indices_batching_dims=[0] start_index_map=[1] index_vector_dim=2 slice_sizes=[1,1] normalize_negative=true)",
          {"1 2 3 4 5 6", "1 0 -1 0 0 -2"}),
      "2 1 2 3 3 3");
}

}  // namespace
}  // namespace strew
