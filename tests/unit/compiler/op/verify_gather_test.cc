// Every label verify() can give for a gather, with its message pinned, and ops at the edge that are legal. Ops are written as text.
#include <string>

#include "gtest/gtest.h"
#include "tests/support/rule_label.h"
#include "tests/support/verdict.h"

namespace strew {
namespace {

using test::gather_verdict;

const std::string kRowDims =
    "offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 slice_sizes=[1,16] ";
const std::string kRows = "operand=f32[8,16] indices=i32[4] result=f32[4,16] " + kRowDims;

TEST(VerifyGather, SpecificationExampleIsLegal) {
  const std::string op =
      "operand=i32[2,3,4,2] indices=i64[2,2,3,2] result=i32[2,2,3,2,2] offset_dims=[3,4] collapsed_slice_dims=[1] "
      "operand_batching_dims=[0] start_indices_batching_dims=[1] start_index_map=[2,1] index_vector_dim=3 slice_sizes=[1,1,2,2]";
  EXPECT_EQ(gather_verdict(op), "ok");
  EXPECT_EQ(gather_verdict(op, {.equal_batching_dims = true}), "ok");
}

struct Case {
  std::string body, message;
};
std::string label_of(const testing::TestParamInfo<Case>& info) {
  return test::rule_label(info.param.message) + "_" + std::to_string(info.index);
}
class VerifyGatherLabel : public testing::TestWithParam<Case> {};
TEST_P(VerifyGatherLabel, NamesFieldValueAndExpectation) { EXPECT_EQ(gather_verdict(GetParam().body), GetParam().message); }

const std::string kOperand = "operand=f32[8,16] ";

INSTANTIATE_TEST_SUITE_P(
    StableHlo, VerifyGatherLabel,
    testing::Values(
        Case{kOperand + "indices=i32[4] result=f32[4,16] offset_dims=[1] slice_sizes=[1,16]",
             "operand is f32[8,16] of rank 2; expected size(offset_dims) + size(collapsed_slice_dims) + "
             "size(operand_batching_dims) = 1 + 0 + 0 [gather_c1]"},
        Case{kOperand + "indices=i32[4] result=f32[4,16] offset_dims=[1] collapsed_slice_dims=[0] index_vector_dim=2",
             "index_vector_dim is 2; expected from 0 to 1, the rank of indices i32[4] [gather_c2]"},
        Case{kOperand + "indices=i32[4] result=f32[4,16] offset_dims=[1] collapsed_slice_dims=[0] index_vector_dim=1",
             "start_index_map is []; expected one entry per component of the index vector, 1: indices is i32[4], "
             "index_vector_dim 1 [gather_c3]"},
        Case{kOperand + "indices=i32[?] result=f32[16] offset_dims=[0] collapsed_slice_dims=[0] start_index_map=[0]",
             "start_index_map is [0]; expected one entry per component of the index vector, ? (it must be static): "
             "indices is i32[?], index_vector_dim 0 [gather_c3]"},
        Case{kOperand + "indices=i32[2] result=f32[8,16] offset_dims=[0,0] start_index_map=[0,1]",
             "offset_dims is [0,0]; expected each entry once, 0 is there more often [gather_c4]"},
        Case{kOperand + "indices=i32[2] result=f32[8,16] offset_dims=[1,0] start_index_map=[0,1]",
             "offset_dims is [1,0]; expected ascending order [gather_c4]"},
        Case{kOperand + "indices=i32[2] result=f32[8,16] offset_dims=[0,2] start_index_map=[0,1]",
             "offset_dims is [0,2] and holds 2; expected entries from 0 to below 2, the rank of result [gather_c5]"},
        Case{kOperand + "indices=i32[2] result=f32[] collapsed_slice_dims=[0] operand_batching_dims=[0] start_index_map=[0,1]",
             "collapsed_slice_dims is [0] and operand_batching_dims is [0]; expected each entry once, 0 is there more "
             "often [gather_c6]"},
        Case{kOperand + "indices=i32[2] result=f32[] collapsed_slice_dims=[1,0] start_index_map=[0,1]",
             "collapsed_slice_dims is [1,0]; expected ascending order [gather_c7]"},
        Case{kOperand + "indices=i32[2] result=f32[] collapsed_slice_dims=[0,2] start_index_map=[0,1]",
             "collapsed_slice_dims is [0,2] and holds 2; expected entries from 0 to below 2, the rank of operand [gather_c8]"},
        Case{kOperand + "indices=i32[4] result=f32[4,16] offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] "
                        "index_vector_dim=1 slice_sizes=[2,16]",
             "slice_sizes is [2,16]; expected entry 0 to be 0 or 1: dim 0 is in collapsed_slice_dims [0] [gather_c9]"},
        Case{kOperand + "indices=i32[0] result=f32[] operand_batching_dims=[1,0]",
             "operand_batching_dims is [1,0]; expected ascending order [gather_c10]"},
        Case{kOperand + "indices=i32[0] result=f32[] operand_batching_dims=[0,2]",
             "operand_batching_dims is [0,2] and holds 2; expected entries from 0 to below 2, the rank of operand [gather_c11]"},
        Case{kOperand + "indices=i32[8] result=f32[8] collapsed_slice_dims=[1] operand_batching_dims=[0] "
                        "start_indices_batching_dims=[0] start_index_map=[1] index_vector_dim=1 slice_sizes=[2,1]",
             "slice_sizes is [2,1]; expected entry 0 to be 0 or 1: dim 0 is in operand_batching_dims [0] [gather_c12]"},
        Case{kOperand + "indices=i32[8,0] result=f32[8] operand_batching_dims=[0,1] start_indices_batching_dims=[0,0] "
                        "index_vector_dim=1",
             "start_indices_batching_dims is [0,0]; expected each entry once, 0 is there more often [gather_c13]"},
        Case{kOperand + "indices=i32[8,0] result=f32[8] operand_batching_dims=[0,1] start_indices_batching_dims=[0,2] "
                        "index_vector_dim=1",
             "start_indices_batching_dims is [0,2] and holds 2; expected entries from 0 to below 2, the rank of "
             "indices [gather_c14]"},
        Case{kOperand + "indices=i32[8,0] result=f32[8] operand_batching_dims=[0,1] start_indices_batching_dims=[0,1] "
                        "index_vector_dim=1",
             "start_indices_batching_dims is [0,1]; expected it without index_vector_dim, 1 [gather_c15]"},
        Case{kOperand +
                 "indices=i32[8,0] result=f32[8] operand_batching_dims=[0,1] start_indices_batching_dims=[0] index_vector_dim=1",
             "start_indices_batching_dims is [0]; expected as many entries as operand_batching_dims, [0,1] [gather_c16]"},
        Case{kOperand + "indices=i32[9] result=f32[9] collapsed_slice_dims=[1] operand_batching_dims=[0] "
                        "start_indices_batching_dims=[0] start_index_map=[1] index_vector_dim=1 slice_sizes=[1,1]",
             "indices is i32[9]; expected its batching dim 0 to be at most 8, dim 0 of operand f32[8,16] [gather_c17]"},
        Case{kOperand + "indices=i32[8] result=f32[8] collapsed_slice_dims=[1] operand_batching_dims=[0] "
                        "start_indices_batching_dims=[0] start_index_map=[0] index_vector_dim=1 slice_sizes=[1,1]",
             "start_index_map is [0] and operand_batching_dims is [0]; expected each entry once, 0 is there more "
             "often [gather_c18]"},
        Case{kOperand + "indices=i32[4] result=f32[4,16] offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[2] "
                        "index_vector_dim=1 slice_sizes=[1,16]",
             "start_index_map is [2] and holds 2; expected entries from 0 to below 2, the rank of operand [gather_c19]"},
        Case{kOperand + "indices=i32[4] result=f32[4,16] offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] "
                        "index_vector_dim=1 slice_sizes=[1]",
             "slice_sizes is [1]; expected 2 entries, the rank of operand [gather_c20]"},
        Case{kOperand + "indices=i32[4] result=f32[4,17] offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] "
                        "index_vector_dim=1 slice_sizes=[1,17]",
             "slice_sizes is [1,17]; expected entry 1 from 0 to 16, dim 1 of operand f32[8,16] [gather_c21]"},
        Case{kOperand + "indices=i32[4] result=f32[4,15] " + kRowDims,
             "result is f32[4,15]; expected dims [4,16], from indices i32[4] and slice_sizes [1,16] [gather_c22]"},
        Case{kOperand + "indices=i32[4] result=f32[4,1,16] " + kRowDims,
             "result is f32[4,1,16] of rank 3; expected rank 2: 1 dims of indices i32[4] and 1 offset_dims [gather_c22]"},
        Case{"operand=complex64[8,16] indices=i32[4] result=f32[4,16] " + kRowDims,
             "operand has dtype complex64; expected one that converts to f32, the dtype of result (the imaginary "
             "part would be lost) [gather_c23]"},
        Case{kRows + "expr={%0=current(0):f32; %1=convert(%0):i8; return %1}",
             "expr returns i8 as result 0; expected f32, its dtype [gather_c23]"},
        Case{kRows + "expr={%0=current(0):f64; %1=convert(%0):f32; return %1}",
             "expr node %0 reads current 0 as f64; expected its dtype, f32 (add a convert) [gather_c23]"}),
    label_of);

INSTANTIATE_TEST_SUITE_P(
    Strew, VerifyGatherLabel,
    testing::Values(
        Case{kOperand + "indices=bool[4] result=f32[4,16] " + kRowDims,
             "indices is bool[4]; expected an integer dtype from i4 to i64 or u4 to u64 [gather_index_dtype]"},
        Case{kRows + "extras=[scalar:f32[]]",
             "1 extras without expr; expected none: only an expression graph reads them [gather_extras]"},
        Case{kRows + "extras=[per_window:f32[4]] expr={%0=current(0):f32; return %0}",
             "extras[0] is f32[4]; expected dims [16], for its kind is per_window [gather_extras]"},
        Case{kRows + "oob=skip_window",
             "oob is skip_window; expected undefined, clamp, wrap, error, fill_element or fill_window [gather_policy]"},
        Case{"operand=bf16[8,16] indices=i32[4] result=f32[4,16] oob=fill_window fill=1:f32 " + kRowDims,
             "fill is 1 of dtype f32; expected dtype bf16 [gather_fill]"},
        Case{kRows + "oob=clamp fill=1:f32",
             "fill is 1 with oob clamp; expected none: only fill_element and fill_window read it [gather_fill]"},
        Case{"operand=f32[0,16] indices=i32[4] result=f32[4,16] offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] "
             "index_vector_dim=1 slice_sizes=[0,16]",
             "result is f32[4,16] and takes its elements from a slice of size 0 of dim 0 of operand f32[0,16] with "
             "oob clamp; expected a slice with elements, an empty result, or (for an empty dim in start_index_map) fill or error "
             "[gather_empty]"},
        Case{kOperand + "indices=i32[4] result=f32[4,16] oob=error offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] "
                        "index_vector_dim=1 slice_sizes=[0,16]",
             "result is f32[4,16] and takes its elements from a slice of size 0 of dim 0 of operand f32[8,16] with "
             "oob error; expected a slice with elements, an empty result, or (for an empty dim in start_index_map) fill or error "
             "[gather_empty]"},
        Case{kOperand + "indices=i32[4] result=f32[4,16]{1,1} " + kRowDims,
             "result is f32[4,16]{1,1}, where two elements share an address; a result needs strides that keep its "
             "elements apart [op_strides]"},
        Case{kOperand + "indices=i32[4,-7] result=f32[4,16] " + kRowDims,
             "indices is i32[4,-7]; expected dim 1 to be 0 or more, or ? [op_dims]"}),
    label_of);

TEST(VerifyGather, EqualBatchingDimsIsStableHlosRule) {
  const std::string op =
      kOperand +
      "indices=i32[7] result=f32[7] collapsed_slice_dims=[1] operand_batching_dims=[0] start_indices_batching_dims=[0] "
      "start_index_map=[1] index_vector_dim=1 slice_sizes=[1,1]";
  EXPECT_EQ(gather_verdict(op), "ok");
  EXPECT_EQ(gather_verdict(op, {.equal_batching_dims = true}),
            "indices is i32[7]; expected its batching dim 0 to be 8, dim 0 of operand f32[8,16] [gather_c17]");
}

TEST(VerifyGather, EdgesAreLegal) {
  const char* const legal[] = {
      "operand=string[] indices=i8[3,0] result=string[3] index_vector_dim=1",
      "operand=f32[8,16] indices=u64[2] result=f32[3,16] offset_dims=[0,1] start_index_map=[1,0] slice_sizes=[3,16] oob=wrap",
      // empty dims: nothing is produced, or the policy answers
      "operand=f32[0,16] indices=i32[0] result=f32[0,16] offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] "
      "index_vector_dim=1 slice_sizes=[0,16]",
      "operand=f32[0,16] indices=i32[4] result=f32[4,16] offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] "
      "index_vector_dim=1 slice_sizes=[0,16] oob=error",
      "operand=bf16[0,16] indices=i32[4] result=f32[4,16] offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] "
      "index_vector_dim=1 slice_sizes=[0,16] oob=fill_element fill=0x7fc1:bf16",
      // sizes known at the call
      "operand=f32[?,16] indices=i32[2] result=f16[?,?] offset_dims=[0,1] start_index_map=[0,1] slice_sizes=[?,?]",
      "operand=f32[8,16] indices=i32[4] result=i8[4,16]{-64,3} extras=[per_position:f32[4]] offset_dims=[1] "
      "collapsed_slice_dims=[0] "
      "start_index_map=[0] index_vector_dim=1 slice_sizes=[1,16] expr={%0=current(0):f32; %1=extra(0):f32; "
      "%2=multiply(%0,%1):f32; "
      "%3=convert(%2):i8; return %3}",
  };
  for (const char* body : legal) EXPECT_EQ(gather_verdict(body), "ok") << body;
}

}  // namespace
}  // namespace strew
