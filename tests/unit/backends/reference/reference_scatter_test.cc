// Scatter on the reference, by hand: the StableHLO RFC's example, every policy, combiner order, init, extras, strides, corner shapes.
#include <gtest/gtest.h>

#include <string>

#include "backends/reference/reference.h"
#include "strew/text.h"
#include "tests/support/ops.h"
#include "tests/unit/backends/reference/reference_testing.h"

namespace strew {
namespace {

using namespace testing_reference;  // NOLINT: run, repeat, count_from

/// Element scatter into a vector of 5: indices[n], one number each.
std::string element(const std::string& dtype, const std::string& fields, int n = 3, const std::string& index = "i32") {
  const std::string count = std::to_string(n);
  return "strew1.scatter(operand=" + dtype + "[5] indices=" + index + "[" + count + "] updates=" + dtype + "[" + count +
         "] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 " + fields + ")";
}

/// Windows of 2 into a vector of 5.
std::string window(const std::string& fields, const std::string& index = "i64") {
  return "strew1.scatter(operand=i32[5] indices=" + index +
         "[3] updates=i32[3,2] update_window_dims=[1] scatter_dims_to_operand_dims=[0] index_vector_dim=1 " + fields + ")";
}

const char* const kRfc =
    "strew1.scatter(operand=i64[2,3,4,2] indices=i64[2,2,3,2] updates=i64[2,2,3,2,2] update_window_dims=[3,4] "
    "inserted_window_dims=[1] "
    "input_batching_dims=[0] scatter_indices_batching_dims=[1] scatter_dims_to_operand_dims=[2,1] index_vector_dim=3 "
    "combiner=add)";

TEST(ReferenceScatter, RfcBatchingDimsExample) {
  EXPECT_EQ(run(kRfc, {count_from(1, 48), "0 0 1 0 2 1  0 1 1 1 0 9  0 0 2 1 2 2  1 2 0 1 1 0", repeat("1", 48)}),
            "3 4 6 7 6 7 7 8 9 10 11 12 15 16 17 18 17 18 19 20 22 23 24 25 "
            "25 26 28 29 30 31 31 32 35 36 38 39 38 39 39 40 41 42 44 45 46 47 47 48");
}

TEST(ReferenceScatter, LastWriterWins) { EXPECT_EQ(run(element("i32", ""), {"1 2 3 4 5", "2 0 2", "10 20 30"}), "20 2 30 4 5"); }

TEST(ReferenceScatter, UnindexedDimsAndIndexVectorDimFirst) {
  // Index vectors lie along dim 0 of indices: the positions are (0,1), (2,0).
  EXPECT_EQ(
      run("strew1.scatter(operand=i8[3,2,2] indices=u8[2,2] updates=i8[2,2] update_window_dims=[1] inserted_window_dims=[0,1] "
          "scatter_dims_to_operand_dims=[0,1] index_vector_dim=0)",
          {repeat("0", 12), "0 2  1 0", "1 2 3 4"}),
      "0 0 1 2 0 0 0 0 3 4 0 0");
}

TEST(ReferenceScatter, WindowDimBeforeScatterDimGoesByPosition) {
  // updates[window, position]: position 0 writes its whole window before position 1, which starts one further.
  EXPECT_EQ(run("strew1.scatter(operand=i32[4] indices=i32[2] updates=i32[2,2] update_window_dims=[0] "
                "scatter_dims_to_operand_dims=[0] index_vector_dim=1)",
                {"0 0 0 0", "1 0", "1 3 2 4"}),
            "3 4 2 0");
}

TEST(ReferenceScatter, Policies) {
  const std::string in = "0 0 0 0 0", indices = "-1 2 4", updates = "1 2 3 4 5 6";
  EXPECT_EQ(run(window("oob=skip_element"), {in, indices, updates}), "2 0 3 4 5");
  EXPECT_EQ(run(window("oob=skip_window"), {in, indices, updates}), "0 0 3 4 0");
  EXPECT_EQ(run(window("oob=clamp"), {in, indices, updates}), "1 2 3 5 6");
  EXPECT_EQ(run(window("oob=wrap"), {in, indices, updates}), "6 0 3 4 5");
  EXPECT_EQ(run(window("oob=undefined"), {in, indices, updates}), "2 0 3 4 5");
  EXPECT_EQ(run(window("oob=error"), {in, indices, updates}),
            "index out of bounds: update position [0] (linear 0), component 0: value -1, expected 0 <= v <= 3");
}

TEST(ReferenceScatter, NegativesAreNormalisedOnce) {
  const std::string in = "0 0 0 0 0", updates = "1 2 3 4 5 6";
  EXPECT_EQ(run(window("oob=skip_window normalize_negative=true"), {in, "-5 -2 -6", updates}), "1 2 0 3 4");
  EXPECT_EQ(run(window("oob=skip_element normalize_negative=true"), {in, "-1 -6 -7", updates}), "4 0 0 0 1");
  EXPECT_EQ(run(window("oob=clamp normalize_negative=true"), {in, "-1 -9 2", updates}), "3 4 5 6 2");
  EXPECT_EQ(run(window("oob=error normalize_negative=true"), {in, "3 -2 -1", updates}),
            "index out of bounds: update position [2] (linear 2), component 0: value -1, expected 0 <= v <= 3 or -5 <= v <= -2");
  EXPECT_EQ(run(element("i32", "oob=error normalize_negative=true"), {in, "-5 4 5", "1 2 3"}),
            "index out of bounds: update position [2] (linear 2), component 0: value 5, expected -5 <= v <= 4");
  EXPECT_EQ(run(element("i32", "oob=error normalize_negative=true"), {in, "-5 4 -2", "1 2 3"}), "1 0 0 3 2");
}

TEST(ReferenceScatter, ExtremesOfIndexTypes) {
  const std::string in = "0 0 0 0 0", updates = "1 2 3 4 5 6", largest = "9223372036854775807", smallest = "-9223372036854775808";
  EXPECT_EQ(run(window("oob=skip_element"), {in, largest + " " + smallest + " 0", updates}), "5 6 0 0 0");
  EXPECT_EQ(run(window("oob=clamp"), {in, smallest + " " + largest + " 1", updates}), "1 5 6 3 4");
  // 2^63 - 1 is 2 modulo 5, -2^63 is 2 modulo 5.
  EXPECT_EQ(run(window("oob=wrap combiner=add"), {in, largest + " " + smallest + " 0", updates}), "5 6 4 6 0");
  // 2^64 - 1 is a large unsigned number, 0 modulo 5; it is not -1.
  EXPECT_EQ(run(window("oob=wrap", "u64"), {in, "18446744073709551615 3 0", updates}), "5 6 0 3 4");
  EXPECT_EQ(run(window("oob=skip_element normalize_negative=true", "u64"), {in, "18446744073709551615 3 0", updates}),
            "5 6 0 3 4");
  EXPECT_EQ(run(window("oob=error", "u64"), {in, "3 18446744073709551615 0", updates}),
            "index out of bounds: update position [1] (linear 1), component 0: value 18446744073709551615, expected 0 <= v <= 3");
  EXPECT_EQ(run(window("oob=wrap", "i4"), {in, "-8 7 0", updates}), "5 6 3 4 0");  // -8 and 7 are 2 modulo 5
}

TEST(ReferenceScatter, ErrorNamesTheFirstPositionThenTheSmallestComponent) {
  const std::string op =
      "strew1.scatter(operand=f32[4,3] indices=i64[2,2,2] updates=f32[2,2] inserted_window_dims=[0,1] "
      "scatter_dims_to_operand_dims=[1,0] "
      "index_vector_dim=2 oob=error init=in_place)";
  EXPECT_EQ(run(op, {repeat("0", 12), "0 0  2 3  1 4  3 0", "1 2 3 4"}),
            "index out of bounds: update position [1,0] (linear 2), component 1: value 4, expected 0 <= v <= 3");
  EXPECT_EQ(run(op, {repeat("0", 12), "0 0  3 4  0 0  0 0", "1 2 3 4"}),
            "index out of bounds: update position [0,1] (linear 1), component 0: value 3, expected 0 <= v <= 2");
  EXPECT_EQ(run(op, {repeat("0", 12), "0 0  2 3  1 1  2 3", "1 2 3 4"}), "1 0 0 0 3 0 0 0 0 0 0 4");
}

TEST(ReferenceScatter, FaultIsReported) {
  const Op op = *parse_op(element("i32", "oob=error init=in_place"));
  int32_t result[5] = {1, 2, 3, 4, 5}, indices[3] = {0, 9, 1}, updates[3] = {7, 8, 9};
  const int64_t five = 5, three = 3;
  const TensorView views[] = {{result, DType::i32, 1, &five, nullptr},
                              {indices, DType::i32, 1, &three, nullptr},
                              {updates, DType::i32, 1, &three, nullptr}};
  BadIndex bad_index;
  const Status status = run_reference(test::verified(op), views, &bad_index);
  EXPECT_EQ(status.code(), Code::out_of_bounds);
  EXPECT_EQ(bad_index.position, 1);
  EXPECT_EQ(bad_index.component, 0);
  EXPECT_EQ(bad_index.value, 9);
  EXPECT_EQ(bad_index.bound, 4);
  EXPECT_EQ(result[0], 1);
}

TEST(ReferenceScatter, IndicesAreCheckedEvenWhereNoElementIsWritten) {
  EXPECT_EQ(run("strew1.scatter(operand=f32[4,0] indices=i32[2] updates=f32[2,0] update_window_dims=[1] inserted_window_dims=[0] "
                "scatter_dims_to_operand_dims=[0] index_vector_dim=1 oob=error)",
                {"", "3 4", ""}),
            "index out of bounds: update position [1] (linear 1), component 0: value 4, expected 0 <= v <= 3");
}

TEST(ReferenceScatter, IndexedDimOfExtentZeroHoldsNothing) {
  const std::string op =
      "strew1.scatter(operand=f32[0,2] indices=i32[1] updates=f32[1,2] update_window_dims=[1] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 oob=";
  for (const char* policy : {"skip_element", "skip_window", "clamp", "wrap", "undefined"})
    EXPECT_EQ(run(op + policy + ")", {"", "0", "1 2"}), "") << policy;
  EXPECT_EQ(run(op + "error)", {"", "0", "1 2"}),
            "index out of bounds: update position [0] (linear 0), component 0: value 0, expected no value: the indexed dim has "
            "extent 0");
}

TEST(ReferenceScatter, RankZeroAndEmptyIndexVectors) {
  EXPECT_EQ(run("strew1.scatter(operand=i32[] indices=i32[0] updates=i32[] combiner=add)", {"5", "", "7"}), "12");
  EXPECT_EQ(
      run("strew1.scatter(operand=i32[] indices=i32[3,0] updates=i32[3] index_vector_dim=1 combiner=add)", {"5", "", "1 2 3"}),
      "11");
  EXPECT_EQ(run("strew1.scatter(operand=i32[3] indices=i32[0] updates=i32[2] update_window_dims=[0])", {"1 2 3", "", "8 9"}),
            "8 9 3");
  EXPECT_EQ(
      run("strew1.scatter(operand=i32[3] indices=i32[] updates=i32[2] update_window_dims=[0] scatter_dims_to_operand_dims=[0])",
          {"1 2 3", "1", "8 9"}),
      "1 8 9");
  EXPECT_EQ(run(element("i32", "", 0), {"1 2 3 4 5", "", ""}), "1 2 3 4 5");
}

TEST(ReferenceScatter, SmallerBatchingDim) {  // ONNX ScatterElements
  EXPECT_EQ(
      run("strew1.scatter(operand=i32[3,2] indices=i32[2,1] updates=i32[2,1] inserted_window_dims=[1] input_batching_dims=[0] "
          "scatter_indices_batching_dims=[0] scatter_dims_to_operand_dims=[1] index_vector_dim=2)",
          {"0 0 0 0 0 0", "1 0", "7 8"}),
      "0 7 8 0 0 0");
}

TEST(ReferenceScatter, Init) {
  EXPECT_EQ(run(element("i32", "init=in_place combiner=add"), {"1 2 3 4 5", "2 0 2", "10 20 30"}), "21 2 43 4 5");
  EXPECT_EQ(run(element("i32", "init=fill fill=7:i32 combiner=add"), {"2 0 2", "10 20 30"}), "27 7 47 7 7");
}

TEST(ReferenceScatter, TypesDiffer) {
  // Untouched elements convert too; updates convert to the result's dtype, each with one rounding.
  EXPECT_EQ(run("strew1.scatter(operand=bf16[3] indices=i32[1] updates=i8[1] result=f32[3] inserted_window_dims=[0] "
                "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add)",
                {"1.5 2.5 3.5", "1", "-3"}),
            "1.5 -0.5 3.5");
  EXPECT_EQ(run("strew1.scatter(operand=f32[3] indices=i32[1] updates=f64[1] result=i8[3] inserted_window_dims=[0] "
                "scatter_dims_to_operand_dims=[0] index_vector_dim=1)",
                {"1.9 -200 nan", "0", "127.9"}),
            "127 -128 0");
}

TEST(ReferenceScatter, MovementKeepsEveryBit) {
  EXPECT_EQ(run_bits(element("f32", "", 1), {"0x7f800001 2 3 4 0xffffffff", "1", "0x7fa00000"}),
            "0x7f800001 0x7fa00000 3 4 0xffffffff");
  EXPECT_EQ(run_bits(element("f16", "", 1), {"0x7c01 2 3 4 -0", "1", "0xfc01"}), "0x7c01 0xfc01 3 4 -0");
  EXPECT_EQ(run(element("bool", "", 1), {"0x02 true false true true", "1", "0xff"}), "0x02 0xff false true true");
  EXPECT_EQ(run_bits(element("hif8", "", 1), {"0x01 0x02 0x03 0x04 0x05", "4", "0xff"}), "0x01 0x02 0x03 0x04 0xff");
  const std::string a = "0x000000000000000500007f0000001000", b = "0x000000000000000700007f0000002000";
  EXPECT_EQ(run(element("string", "", 1), {a + " " + a + " " + a + " " + a + " " + a, "3", b}),
            a + " " + a + " " + a + " " + b + " " + a);
}

TEST(ReferenceScatter, PackedElementsShareBytes) {
  EXPECT_EQ(run(element("i4", "combiner=add"), {"1 -2 3 -4 7", "4 1 4", "7 -8 1"}), "1 6 3 -4 -1");
  EXPECT_EQ(run(element("u2", "", 2), {"0 1 2 3 0", "4 1", "3 2"}), "0 2 2 3 3");
  EXPECT_EQ(run(element("f4e2m1", "combiner=add"), {"0 1 6 0.5 -6", "2 4 3", "6 -1 0.5"}), "0 1 6 1 -6");
}

TEST(ReferenceScatter, RoundsAfterEveryCombine) {
  // 2048 + 1 + 1 in f16: each 1 is lost to ties-to-even; in f32 both would count.
  EXPECT_EQ(run(element("f16", "combiner=add", 2), {"2048 0 0 0 0", "0 0", "1 1"}), "2048 0 0 0 0");
  EXPECT_EQ(run(element("f16", "combiner=add accumulate=wide", 2), {"2048 0 0 0 0", "0 0", "1 1"}), "2050 0 0 0 0");
  EXPECT_EQ(run(element("f32", "combiner=add", 2), {"16777216 0 0 0 0", "0 0", "1 1"}), "16777216 0 0 0 0");
  EXPECT_EQ(run(element("f32", "combiner=add accumulate=wide_f64", 2), {"16777216 0 0 0 0", "0 0", "1 1"}), "16777218 0 0 0 0");
  EXPECT_EQ(run(element("f16", "combiner=sub accumulate=wide", 2), {"-2048 1 0 0 0", "0 0", "1 1"}), "-2050 1 0 0 0");
}

TEST(ReferenceScatter, WideKeepsUntouchedBits) {
  EXPECT_EQ(run_bits(element("bf16", "combiner=add accumulate=wide", 1), {"1 0x7f81 -0 4 5", "0", "2"}), "3 0x7f81 -0 4 5");
}

TEST(ReferenceScatter, SeveralResultsWithNamedCombiner) {
  EXPECT_EQ(run("strew1.scatter(operand=[i32[3],f32[3]] indices=i32[2] updates=[i32[2],f32[2]] inserted_window_dims=[0] "
                "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=max)",
                {"1 2 3", "1 2 3", "2 2", "9 4", "-1 0x7fc00000"}),
            "1 2 9 | 1 2 nan");
}

TEST(ReferenceScatter, ExpressionOverTwoResults) {  // arg-max: keep the pair with the larger first value
  EXPECT_EQ(run("strew1.scatter(operand=[f32[3],i32[3]] indices=i32[3] updates=[f32[3],i32[3]] inserted_window_dims=[0] "
                "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=expr "
                "expr={%0=current(0):f32; %1=update(0):f32; %2=current(1):i32; %3=update(1):i32; %4=gt(%1,%0):bool; "
                "%5=select(%4,%1,%0):f32; %6=select(%4,%3,%2):i32; return %5,%6})",
                {"5 5 5", "0 0 0", "0 1 0", "7 1 6", "10 11 12"}),
            "7 5 5 | 10 0 0");
}

TEST(ReferenceScatter, ExtrasOfEveryKind) {
  // result += scale * weight[position] * update + bias[window] * mask[position, window]
  EXPECT_EQ(run("strew1.scatter(operand=f32[3,2] indices=i32[2] updates=f32[2,2] "
                "extras=[scalar:f32[],per_position:f32[2],per_window:f32[2],per_element:f32[2,2]] update_window_dims=[1] "
                "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=expr "
                "expr={%0=current(0):f32; %1=update(0):f32; %2=extra(0):f32; %3=extra(1):f32; %4=extra(2):f32; %5=extra(3):f32; "
                "%6=multiply(%2,%3):f32; %7=multiply(%6,%1):f32; %8=multiply(%4,%5):f32; %9=add(%7,%8):f32; %10=add(%0,%9):f32; "
                "return %10})",
                {"0 0 100 100 0 0", "1 1", "1 2 3 4", "2", "10 1000", "0.5 0.25", "1 0 0 1"}),
            "0 0 6120.5 8140.25 0 0");
}

TEST(ReferenceScatter, StridesOfEverySign) {
  // A transposed result, reversed updates, one index for all positions (stride 0).
  EXPECT_EQ(
      run("strew1.scatter(operand=i16[2,3] indices=i32[2]{0} updates=i16[2,2]{-3,-1} result=i16[2,3]{1,4} update_window_dims=[1] "
          "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add)",
          {"1 2 3 4 5 6", "1 1", "10 20 30 40"}),
      "1 2 3 44 65 6");
  EXPECT_EQ(run("strew1.scatter(operand=u4[2,3] indices=i32[2] updates=u4[2] result=u4[2,3]{-8,2} inserted_window_dims=[0,1] "
                "input_batching_dims=[] scatter_dims_to_operand_dims=[1] index_vector_dim=1)",
                {"1 2 3 4 5 6", "2 0", "14 15"}),
            "15 2 14 4 5 6");
}

TEST(ReferenceScatter, DynamicShapesComeFromTheCall) {
  EXPECT_EQ(run("strew1.scatter(operand=i32[?,2] indices=i32[?] updates=i32[?,2] update_window_dims=[1] inserted_window_dims=[0] "
                "scatter_dims_to_operand_dims=[0] index_vector_dim=1 init=in_place)",
                {"[3,2] 1 2 3 4 5 6", "[2] 2 0", "[2,2] 7 8 9 10"}),
            "9 10 3 4 7 8");
}

}  // namespace
}  // namespace strew
