// Every label that verify() can give for reductions over rows and for results per row, with its message pinned, and ops that are legal. Ops are written
// as text.
#include <string>

#include "gtest/gtest.h"
#include "strew/builder.h"
#include "strew/forms.h"
#include "tests/support/rule_label.h"
#include "tests/support/verdict.h"

namespace strew {
namespace {

using test::scatter_verdict;

const std::string kDims =
    " indices=i32[4] updates=f32[4,16] update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
    "index_vector_dim=1 ";
const std::string kPerRow = "operand=f32[8,16]{1,0}" + kDims;
const std::string kSum = "row_reductions=[add(8){%0=update(0):f32; return %0}] ";
const std::string kAddSum = "combiner=expr expr={%0=current(0):f32; %1=extra(0):f32; %2=add(%0,%1):f32; return %2}";

TEST(VerifyRows, ReductionsAndResultsPerRowAreLegal) {
  EXPECT_EQ(scatter_verdict(kPerRow + kSum + kAddSum), "ok");
  // Rows of which every element is scaled by their sum.
  EXPECT_EQ(scatter_verdict("operand=f32[8,16]" + kDims + kSum +
                            "combiner=expr expr={%0=update(0):f32; %1=extra(0):f32; %2=multiply(%0,%1):f32; return %2}"),
            "ok");
  // A reduction that reads the one before, and an extra.
  EXPECT_EQ(scatter_verdict(
                kPerRow +
                "extras=[per_window:f32[16]] row_reductions=[maximum(1){%0=update(0):f32; return %0},add(64){%0=update(0):f32; "
                "%1=extra(1):f32; %2=subtract(%0,%1):f32; %3=extra(0):f32; %4=multiply(%2,%3):f32; return %4}] combiner=expr "
                "expr={%0=extra(2):f32; return %0}"),
            "ok");
  // How many updates each row has: nothing is reduced.
  EXPECT_EQ(scatter_verdict(kPerRow + "combiner=expr expr={%0=current(0):f32; %1=constant(1):f32; %2=add(%0,%1):f32; return %2}"),
            "ok");
}

TEST(VerifyRows, OpenExtentsMayRepeat) {
  EXPECT_EQ(
      scatter_verdict("operand=f32[?,?]{1,0} indices=i32[?] updates=f32[?,?] update_window_dims=[1] inserted_window_dims=[0] "
                      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 " +
                      kSum + kAddSum),
      "ok");
}

TEST(VerifyRows, TheFormOfDotProductsIsLegal) {
  using namespace types;
  const Expected<Scatter> op = sddmm(bf16({50, 64}), i32({1000}), bf16({kDynamic, 64}), i64({1000}), 16).build();
  ASSERT_TRUE(op.ok()) << op.status().message();
  EXPECT_EQ(print(op->results[0]), "bf16[1000,64]{1,0}");
  EXPECT_EQ(op->row_reductions[0].value.result().dtype, DType::f32);
  const Expected<Scatter> batched = sddmm(i32({50, 4, 8}), i32({3, 7}), i32({9, 4, 8}), i32({3, 7})).build();
  ASSERT_TRUE(batched.ok()) << batched.status().message();
  EXPECT_EQ(print(batched->results[0]), "i32[3,7,4,8]{7,1,0,0}");
  EXPECT_EQ(sddmm(f32({5, 8}), i32({3}), f32({5, 9}), i32({3})).build().status().message(),
            "extras[0] is f32[3,9]; expected dims [3,8], for its kind is per_element [scatter_extras]");
}

struct Case {
  std::string body, message;
};
std::string label_of(const testing::TestParamInfo<Case>& info) {
  return test::rule_label(info.param.message) + "_" + std::to_string(info.index);
}
class VerifyRowsLabel : public testing::TestWithParam<Case> {};
TEST_P(VerifyRowsLabel, NamesFieldValueAndExpectation) { EXPECT_EQ(scatter_verdict(GetParam().body), GetParam().message); }

std::string reduction(const std::string& text) { return kPerRow + "row_reductions=[" + text + "] " + kAddSum; }

INSTANTIATE_TEST_SUITE_P(
    All, VerifyRowsLabel,
    testing::Values(
        Case{reduction("add(3){%0=update(0):f32; return %0}"),
             "row_reductions[0] has 3 lanes; expected a power of two from 1 to 64 [row_reductions]"},
        Case{reduction("add(128){%0=update(0):f32; return %0}"),
             "row_reductions[0] has 128 lanes; expected a power of two from 1 to 64 [row_reductions]"},
        Case{reduction("add(8){%0=current(0):f32; return %0}"),
             "row_reductions[0] reads current 0; expected updates, extras and earlier reductions [row_reductions]"},
        Case{reduction("add(8){%0=update(0):f32; return %0, %0}"),
             "row_reductions[0] returns 2 values; expected 1 [row_reductions]"},
        Case{reduction("add(8){%0=extra(0):f32; return %0}"),
             "row_reductions[0]: expr node %0, extra:f32, reads number 0; expected from 0 to below 0 [expr_inputs]"},
        Case{reduction("add(8){%0=update(0):f64; return %0}"),
             "row_reductions[0]: expr node %0 reads update 0 as f64; expected its dtype, f32 (add a convert) [row_reductions]"},
        Case{reduction("subtract(8){%0=update(0):f32; return %0}"),
             "row_reductions[0] folds f32 by subtract; expected add, multiply, minimum, maximum, and, or, xor, of a dtype that "
             "they take and that is not complex [row_reductions]"},
        Case{reduction("and(8){%0=update(0):f32; return %0}"),
             "row_reductions[0] folds f32 by and; expected add, multiply, minimum, maximum, and, or, xor, of a dtype that they "
             "take and that is not complex [row_reductions]"},
        Case{reduction("add(8){%0=update(0):f32; %1=convert(%0):complex64; return %1}"),
             "row_reductions[0] folds complex64 by add; expected add, multiply, minimum, maximum, and, or, xor, of a dtype that "
             "they take and that is not complex [row_reductions]"},
        Case{reduction("add(8){%0=update(0):f32; %1=convert(%0):u4; return %1}"),
             "row_reductions[0] folds u4; expected a dtype of whole bytes (add a convert) [row_reductions]"},
        Case{"operand=f32[8,16]" + kDims + kSum + "combiner=add",
             "combiner is add; expected an expression, which reads the reductions as extras [row_reductions]"},
        Case{kPerRow + "combiner=add",
             "combiner is add, of each element, and results hold a value per row; expected an expression [row_results]"},
        Case{kPerRow + kSum + "combiner=expr expr={%0=update(0):f32; return %0}",
             "expr node %0 reads update 0, a value per element, and results hold a value per row; expected reductions, extras "
             "per position and scalars [row_results]"},
        Case{kPerRow + "extras=[per_window:f32[16]] combiner=expr expr={%0=extra(0):f32; return %0}",
             "expr node %0 reads extra 0, a value per element, and results hold a value per row; expected reductions, extras per "
             "position and scalars [row_results]"},
        Case{"operand=f32[8,16] result=f32[8,16]{1,0}" + kDims + kSum + kAddSum,
             "operand[0] is f32[8,16]; expected stride 0 in the window dims, as its result has: it is a value per row "
             "[row_results]"},
        Case{"operand=f32[8,16]{1,0} result=f32[8,16]" + kDims + kSum +
                 "combiner=expr expr={%0=current(0):f32; %1=extra(0):f32; %2=add(%0,%1):f32; return %2} init=in_place",
             "result[0] is f32[8,16]; expected f32[8,16]{1,0}, its operand's type: in place they are one buffer "
             "[scatter_in_place]"},
        Case{"operand=f32[8,16]{0,0}" + kDims + kSum + kAddSum,
             "result[0] is f32[8,16]{0,0}, where two elements share an address; a result needs strides that keep its elements "
             "apart [op_strides]"},
        Case{"operand=f32[8,16] indices=i32[4,2] updates=f32[4,3] update_window_dims=[1] inserted_window_dims=[0] "
             "scatter_dims_to_operand_dims=[0,1] index_vector_dim=1 " +
                 kSum + kAddSum,
             "an index moves window dim 1 of operand f32[8,16]; expected indices of inserted dims only, so that rows are whole "
             "[row_window]"},
        Case{"operand=f32[8,16]" + kDims +
                 "lookups=[updates(0)=gather(operand=f32[9,20] indices=i64[4,2] result=f32[4,16] offset_dims=[1] "
                 "collapsed_slice_dims=[0] start_index_map=[0,1] index_vector_dim=1 slice_sizes=[1,16])] " +
                 kSum + kAddSum,
             "lookups[0] moves window dim 1 of table f32[9,20]; expected indices of collapsed dims only, so that rows are whole "
             "[row_window]"}),
    label_of);

TEST(VerifyRows, ThereAreAtMostEightReductions) {
  std::string nine;
  for (int i = 0; i < 9; ++i) nine += std::string(i == 0 ? "" : ",") + "add(1){%0=update(0):f32; return %0}";
  EXPECT_EQ(scatter_verdict(reduction(nine)), "9 row_reductions; expected at most 8 [op_limits]");
}

}  // namespace
}  // namespace strew
