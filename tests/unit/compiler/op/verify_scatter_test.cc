// Every label verify() can give for a scatter, with its message pinned, and ops at the edge that are legal. Ops are written as text.
#include <string>

#include "compiler/op/limits.h"
#include "gtest/gtest.h"
#include "strew/text.h"
#include "strew/verify.h"
#include "tests/support/rule_label.h"
#include "tests/support/verdict.h"

namespace strew {
namespace {

using test::scatter_verdict;

// The batching example of the StableHLO specification.
const std::string kTensors = "operand=i64[2,3,4,2] indices=i64[2,2,3,2] updates=i64[2,2,3,2,2] ";
const std::string kDims =
    "update_window_dims=[3,4] inserted_window_dims=[1] input_batching_dims=[0] scatter_indices_batching_dims=[1] "
    "scatter_dims_to_operand_dims=[2,1] index_vector_dim=3 ";
// Rows of a table.
const std::string kRows =
    "indices=i32[4] update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 ";
const std::string kF32Rows = "operand=f32[8,16] updates=f32[4,16] " + kRows;

TEST(VerifyScatter, WindowsFitWhatIsKnownOfOperandAndResult) {
  EXPECT_EQ(
      test::rule_label(scatter_verdict("operand=f32[8,?] indices=i32[4] updates=f32[4,16] result=f32[8,8] update_window_dims=[1] "
                                       "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1")),
      "scatter_c4");
}

TEST(VerifyScatter, SpecificationExampleIsLegal) {
  EXPECT_EQ(scatter_verdict(kTensors + kDims), "ok");
  EXPECT_EQ(scatter_verdict(kTensors + kDims, {.equal_batching_dims = true}), "ok");
}

struct Case {
  std::string body, message;
};
std::string label_of(const testing::TestParamInfo<Case>& info) {
  return test::rule_label(info.param.message) + "_" + std::to_string(info.index);
}
class VerifyScatterLabel : public testing::TestWithParam<Case> {};
TEST_P(VerifyScatterLabel, NamesFieldValueAndExpectation) { EXPECT_EQ(scatter_verdict(GetParam().body), GetParam().message); }

INSTANTIATE_TEST_SUITE_P(
    StableHlo, VerifyScatterLabel,
    testing::Values(
        Case{"operand=[f32[8,16],f32[8,15]] updates=[f32[4,16],f32[4,16]] " + kRows,
             "operand[1] is f32[8,15]; expected dims [8,16], the dims of operand[0] [scatter_c1]"},
        Case{kTensors + "update_window_dims=[3,4] input_batching_dims=[0]",
             "operand[0] is i64[2,3,4,2] of rank 4; expected size(update_window_dims) + size(inserted_window_dims) + "
             "size(input_batching_dims) = 2 + 0 + 1 [scatter_c2]"},
        Case{"operand=[f32[8,16],f32[8,16]] updates=[f32[4,16],f32[5,16]] " + kRows,
             "updates[1] is f32[5,16]; expected dims [4,16], the dims of updates[0] [scatter_c3]"},
        Case{"operand=f32[8,16] updates=f32[4,1,16] " + kRows,
             "updates[0] is f32[4,1,16] of rank 3; expected rank 2: 1 dims of indices i32[4] and 1 "
             "update_window_dims [scatter_c4]"},
        Case{"operand=f32[8,16] updates=f32[5,16] " + kRows,
             "updates[0] is f32[5,16]; expected dims [4,16], from indices i32[4] and update_window_dims [1] [scatter_c4]"},
        Case{"operand=f32[8,16] updates=f32[4,17] " + kRows,
             "updates[0] is f32[4,17]; expected its window dim 1 to be at most 16, dim 1 of operand f32[8,16] [scatter_c4]"},
        Case{"operand=[] updates=[] " + kRows,
             "0 operands and 0 updates; expected the same number of both, at least 1 [scatter_c5]"},
        Case{"operand=f32[8,16] updates=[f32[4,16],f32[4,16]] " + kRows,
             "1 operands and 2 updates; expected the same number of both, at least 1 [scatter_c5]"},
        Case{"operand=f32[8,16] updates=complex64[4,16] " + kRows,
             "updates[0] has dtype complex64; expected one that converts to f32, the dtype of result[0] (the "
             "imaginary part would be lost) [scatter_c6]"},
        Case{"operand=f8e8m0[8,16] updates=f32[4,16] " + kRows,
             "updates[0] has dtype f32; expected one that converts to f8e8m0, the dtype of result[0] (f8e8m0 moves, "
             "but has no conversions) [scatter_c6]"},
        Case{"operand=f32[8,16] updates=f32[4,16] indices=i32[4] update_window_dims=[1,1]",
             "update_window_dims is [1,1]; expected each entry once, 1 is there more often [scatter_c7]"},
        Case{"operand=f32[8,16] updates=f32[4,16] indices=i32[4] update_window_dims=[1,0]",
             "update_window_dims is [1,0]; expected ascending order [scatter_c7]"},
        Case{"operand=f32[8,16] updates=f32[4,16] indices=i32[4] update_window_dims=[2] inserted_window_dims=[0]",
             "update_window_dims is [2] and holds 2; expected entries from 0 to below 2, the rank of updates [scatter_c8]"},
        Case{"operand=f32[8,16] updates=f32[4] indices=i32[4] inserted_window_dims=[0] input_batching_dims=[0]",
             "inserted_window_dims is [0] and input_batching_dims is [0]; expected each entry once, 0 is there more "
             "often [scatter_c9]"},
        Case{"operand=f32[8,16] updates=f32[4] indices=i32[4] inserted_window_dims=[1,0]",
             "inserted_window_dims is [1,0]; expected ascending order [scatter_c10]"},
        Case{"operand=f32[8,16] updates=f32[4] indices=i32[4] inserted_window_dims=[0,2]",
             "inserted_window_dims is [0,2] and holds 2; expected entries from 0 to below 2, the rank of operand [scatter_c11]"},
        Case{"operand=f32[8,16] updates=f32[4] indices=i32[4] input_batching_dims=[1,0]",
             "input_batching_dims is [1,0]; expected ascending order [scatter_c12]"},
        Case{"operand=f32[8,16] updates=f32[4] indices=i32[4] input_batching_dims=[-1,0]",
             "input_batching_dims is [-1,0] and holds -1; expected entries from 0 to below 2, the rank of operand [scatter_c13]"},
        Case{"operand=f32[8,16] updates=f32[8] indices=i32[8] input_batching_dims=[0,1] scatter_indices_batching_dims=[0,0] "
             "index_vector_dim=1",
             "scatter_indices_batching_dims is [0,0]; expected each entry once, 0 is there more often [scatter_c14]"},
        Case{"operand=f32[8,16] updates=f32[8] indices=i32[8] input_batching_dims=[0,1] scatter_indices_batching_dims=[0,1] "
             "index_vector_dim=1",
             "scatter_indices_batching_dims is [0,1] and holds 1; expected entries from 0 to below 1, the rank of "
             "indices [scatter_c15]"},
        Case{"operand=f32[8,16] updates=f32[8] indices=i32[8,2] input_batching_dims=[0,1] scatter_indices_batching_dims=[0,1] "
             "index_vector_dim=1",
             "scatter_indices_batching_dims is [0,1]; expected it without index_vector_dim, 1 [scatter_c16]"},
        Case{"operand=f32[8,16] updates=f32[8] indices=i32[8,2] input_batching_dims=[0,1] scatter_indices_batching_dims=[0] "
             "index_vector_dim=1",
             "scatter_indices_batching_dims is [0]; expected as many entries as input_batching_dims, [0,1] [scatter_c17]"},
        Case{"operand=f32[8,16] updates=f32[9] indices=i32[9] inserted_window_dims=[1] input_batching_dims=[0] "
             "scatter_indices_batching_dims=[0] scatter_dims_to_operand_dims=[1] index_vector_dim=1",
             "indices is i32[9]; expected its batching dim 0 to be at most 8, dim 0 of operand f32[8,16] [scatter_c18]"},
        Case{"operand=f32[8,16] updates=f32[4] indices=i32[4,2] inserted_window_dims=[0,1] scatter_dims_to_operand_dims=[0] "
             "index_vector_dim=1",
             "scatter_dims_to_operand_dims is [0]; expected one entry per component of the index vector, 2: indices "
             "is i32[4,2], index_vector_dim 1 [scatter_c19]"},
        Case{"operand=f32[8,16] updates=f32[4] indices=i32[4,?] inserted_window_dims=[0,1] scatter_dims_to_operand_dims=[0,1] "
             "index_vector_dim=1",
             "scatter_dims_to_operand_dims is [0,1]; expected one entry per component of the index vector, ? (it "
             "must be static): indices is i32[4,?], index_vector_dim 1 [scatter_c19]"},
        Case{"operand=f32[8,16] updates=f32[4] indices=i32[4] more_indices=[i8[4],i8[4]] inserted_window_dims=[0,1] "
             "scatter_dims_to_operand_dims=[0,1] index_vector_dim=1",
             "scatter_dims_to_operand_dims is [0,1]; expected one entry per component of the index vector, 3: indices "
             "is i32[4], index_vector_dim 1, and each of more_indices has one [scatter_c19]"},
        Case{"operand=f32[8,16] updates=f32[4] indices=i32[4,1] more_indices=i8[4,1] inserted_window_dims=[0,1] "
             "scatter_dims_to_operand_dims=[0,1] index_vector_dim=1",
             "index_vector_dim is 1 with more_indices; expected 2, the rank of indices i32[4,1]: each tensor has one "
             "component [index_tensors]"},
        Case{"operand=f32[8,16] updates=f32[4] indices=i32[4] more_indices=i8[5] inserted_window_dims=[0,1] "
             "scatter_dims_to_operand_dims=[0,1] index_vector_dim=1",
             "more_indices[0] is i8[5]; expected dims [4], the dims of indices [index_tensors]"},
        Case{"operand=f32[8,16] updates=f32[4] indices=i32[4] more_indices=f32[4] inserted_window_dims=[0,1] "
             "scatter_dims_to_operand_dims=[0,1] index_vector_dim=1",
             "more_indices[0] is f32[4]; expected an integer dtype from i4 to i64 or u4 to u64 [scatter_index_dtype]"},
        Case{"operand=f32[8,16] updates=f32[4] indices=i32[4,2] inserted_window_dims=[0,1] scatter_dims_to_operand_dims=[1,1] "
             "index_vector_dim=1",
             "scatter_dims_to_operand_dims is [1,1] and input_batching_dims is []; expected each entry once, 1 is "
             "there more often [scatter_c20]"},
        Case{"operand=f32[8,16] updates=f32[4] indices=i32[4,2] inserted_window_dims=[0,1] scatter_dims_to_operand_dims=[1,2] "
             "index_vector_dim=1",
             "scatter_dims_to_operand_dims is [1,2] and holds 2; expected entries from 0 to below 2, the rank of "
             "operand [scatter_c21]"},
        Case{"operand=f32[8,16] updates=f32[4,16] indices=i32[4] update_window_dims=[1] inserted_window_dims=[0] "
             "scatter_dims_to_operand_dims=[0] index_vector_dim=2",
             "index_vector_dim is 2; expected from 0 to 1, the rank of indices i32[4] [scatter_c22]"},
        Case{"operand=complex64[8,16] updates=f32[4,16] result=f32[8,16] " + kRows,
             "operand[0] has dtype complex64; expected one that converts to f32, the dtype of result[0] (the "
             "imaginary part would be lost) [scatter_c23]"},
        Case{kF32Rows + "combiner=expr expr={%0=current(0):f32; %1=update(0):bf16; return %0}",
             "expr node %1 reads update 0 as bf16; expected its dtype, f32 (add a convert) [scatter_c23]"},
        Case{"operand=f32[8,16] updates=f32[4,16] result=f32[8,15] " + kRows,
             "result[0] is f32[8,15]; expected dims [8,16], the dims of its operand [scatter_c24]"},
        Case{"operand=f32[8,16] updates=f32[4,16] result=[f32[8,16],f32[8,16]] " + kRows,
             "2 results; expected 1, one per operand [scatter_c24]"},
        Case{kF32Rows + "combiner=expr expr={%0=current(0):f32; %1=convert(%0):bf16; return %1}",
             "expr returns bf16 as result 0; expected f32, its dtype [scatter_c25]"}),
    label_of);

INSTANTIATE_TEST_SUITE_P(
    Strew, VerifyScatterLabel,
    testing::Values(
        Case{"operand=f32[8,16] updates=f32[4,16] indices=f32[4]",
             "indices is f32[4]; expected an integer dtype from i4 to i64 or u4 to u64 [scatter_index_dtype]"},
        Case{"operand=f32[8,16] updates=f32[4,16] indices=u2[4]",
             "indices is u2[4]; expected an integer dtype from i4 to i64 or u4 to u64 [scatter_index_dtype]"},
        Case{"operand=string[8,16] updates=string[4,16] combiner=add " + kRows,
             "combiner is add and result[0] is string; expected one of: bool, integers, floats, complex, with arithmetic (this "
             "one "
             "only moves) [scatter_combiner]"},
        Case{"operand=i2[8,16] updates=i2[4,16] combiner=or " + kRows,
             "combiner is or and result[0] is i2; expected one of: bool, integers, with arithmetic (this one only moves) "
             "[scatter_combiner]"},
        Case{"operand=complex64[8,16] updates=complex64[4,16] combiner=min " + kRows,
             "combiner is min and result[0] is complex64; expected one of: bool, integers, floats [scatter_combiner]"},
        Case{"operand=bool[8,16] updates=bool[4,16] combiner=sub " + kRows,
             "combiner is sub and result[0] is bool; expected one of: integers, floats, complex [scatter_combiner]"},
        Case{"operand=f32[8,16] updates=f32[4,16] combiner=xor " + kRows,
             "combiner is xor and result[0] is f32; expected one of: bool, integers [scatter_combiner]"},
        Case{kF32Rows + "combiner=add extras=[scalar:f32[]]",
             "1 extras without expr; expected none: only an expression graph reads them [scatter_extras]"},
        Case{kF32Rows + "combiner=expr expr={%0=update(0):f32; return %0} extras=[per_element:f32[4,15]]",
             "extras[0] is f32[4,15]; expected dims [4,16], for its kind is per_element [scatter_extras]"},
        Case{kF32Rows + "combiner=expr expr={%0=update(0):f32; return %0} extras=[per_position:f32[16]]",
             "extras[0] is f32[16]; expected dims [4], for its kind is per_position [scatter_extras]"},
        Case{kF32Rows + "combiner=expr expr={%0=update(0):f32; return %0} extras=[per_window:f32[4]]",
             "extras[0] is f32[4]; expected dims [16], for its kind is per_window [scatter_extras]"},
        Case{kF32Rows + "combiner=expr expr={%0=update(0):f32; return %0} extras=[scalar:f32[1]]",
             "extras[0] is f32[1]; expected dims [], for its kind is scalar [scatter_extras]"},
        Case{"operand=f32[8,16] result=f64[8,16] updates=f32[4,16] init=in_place " + kRows,
             "result[0] is f64[8,16]; expected f32[8,16], its operand's type: in place they are one buffer [scatter_in_place]"},
        Case{"operand=f32[8,16] result=f32[8,16]{32,1} updates=f32[4,16] init=in_place " + kRows,
             "result[0] is f32[8,16]{32,1}; expected f32[8,16], its operand's type: in place they are one "
             "buffer [scatter_in_place]"},
        Case{kF32Rows + "init=fill", "init is fill with 0 fill values; expected 1 [scatter_fill]"},
        Case{kF32Rows + "fill=0:f32", "init is copy with 1 fill values; expected 0 [scatter_fill]"},
        Case{kF32Rows + "init=fill fill=0:f64", "fill[0] is 0 of dtype f64; expected dtype f32 [scatter_fill]"},
        Case{"operand=bool[8,16] updates=bool[4,16] init=fill fill=0x02:bool " + kRows,
             "fill[0] is 0x02; expected true or false [scatter_fill]"},
        Case{"operand=string[8,16] updates=string[4,16] init=fill fill=0x01:string " + kRows,
             "fill[0] is a string view; expected the empty string, all bits 0: an op holds no addresses [scatter_fill]"},
        Case{kF32Rows + "oob=fill_window",
             "oob is fill_window; expected undefined, skip_element, skip_window, clamp, wrap or error [scatter_policy]"},
        Case{"operand=bf16[8,16] updates=bf16[4,16] combiner=div accumulate=wide " + kRows,
             "accumulate is wide with combiner div; expected add, sub or mul [scatter_accumulate]"},
        Case{"operand=bf16[8,16] updates=bf16[4,16] combiner=expr expr={%0=update(0):bf16; %1=current(0):bf16; "
             "%2=add(%0,%1):bf16; return %2} accumulate=wide " +
                 kRows,
             "accumulate is wide with combiner expr; expected add, sub or mul [scatter_accumulate]"},
        Case{kF32Rows + "combiner=add accumulate=wide",
             "accumulate is wide and result[0] is f32; expected f16, bf16, or an f8 with arithmetic [scatter_accumulate]"},
        Case{"operand=bf16[8,16] updates=bf16[4,16] combiner=add accumulate=wide_f64 " + kRows,
             "accumulate is wide_f64 and result[0] is bf16; expected f32 [scatter_accumulate]"},
        Case{"operand=f32[8,-1] updates=f32[4,16] " + kRows,
             "operand[0] is f32[8,-1]; expected dim 1 to be 0 or more, or ? [op_dims]"},
        Case{"operand=f32[8,16]{16} updates=f32[4,16] " + kRows,
             "operand[0] is f32[8,16]{16}; expected no strides (contiguous) or one per dim [op_strides]"},
        Case{"operand=f32[8,16] result=f32[8,16]{0,1} updates=f32[4,16] " + kRows,
             "result[0] is f32[8,16]{0,1}, where two elements share an address; a result needs strides that keep its "
             "elements apart [op_strides]"},
        Case{"operand=f32[8,16] result=f32[8,16]{15,1} updates=f32[4,16] " + kRows,
             "result[0] is f32[8,16]{15,1}, where two elements share an address; a result needs strides that keep "
             "its elements apart [op_strides]"},
        Case{"operand=f32[4294967296,67108864] updates=f32[4,16] " + kRows,
             "operand[0] is f32[4294967296,67108864]; expected a size in bits that fits 64-bit signed integers [op_size]"},
        Case{"operand=f32[8,16] updates=f32[4,16]{9223372036854775807,1} " + kRows,
             "updates[0] is f32[4,16]{9223372036854775807,1}; expected a size in bits that fits 64-bit signed integers "
             "[op_size]"}),
    label_of);

TEST(VerifyScatter, EqualBatchingDimsIsStableHlosRule) {
  const std::string op =
      "operand=f32[8,16] updates=f32[7] indices=i32[7] inserted_window_dims=[1] input_batching_dims=[0] "
      "scatter_indices_batching_dims=[0] scatter_dims_to_operand_dims=[1] index_vector_dim=1";
  EXPECT_EQ(scatter_verdict(op), "ok");
  EXPECT_EQ(scatter_verdict(op, {.equal_batching_dims = true}),
            "indices is i32[7]; expected its batching dim 0 to be 8, dim 0 of operand f32[8,16] [scatter_c18]");
}

TEST(VerifyScatter, LimitsHold) {
  Scatter s;
  s.operands.resize(kMaxPairs + 1);
  s.updates.resize(kMaxPairs + 1);
  s.results.resize(kMaxPairs + 1);
  EXPECT_EQ(verify(s).message(), "65 operands; expected at most 64 [op_limits]");
  s = {};
  s.operands.push_back({DType::f32, std::vector<int64_t>(kMaxRank + 1, 1), {}});
  s.updates = s.results = s.operands;
  EXPECT_EQ(verify(s).message(), "operand[0] has rank 65; expected at most 64 [op_limits]");
}

TEST(VerifyScatter, NumbersThatAreNoEnumeratorsAreRefused) {
  const Expected<Op> parsed = parse_op(
      "strew1.scatter(operand=f32[8,4] indices=i32[3] updates=f32[3,4] extras=[scalar:f32[]] update_window_dims=[1] "
      "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=expr expr={%0=update(0):f32; "
      "%1=extra(0):f32; %2=add(%0,%1):f32; return %2})");
  ASSERT_TRUE(parsed.ok() && verify(*parsed).ok());
  const auto refused = [&](const auto& change) {
    Scatter op = std::get<Scatter>(*parsed);
    change(op);
    const Status status = verify(Op(op));
    EXPECT_NE(status.message().find("has number 77; expected 0 to "), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("[op_enum]"), std::string::npos) << status.message();
  };
  refused([](Scatter& op) { op.oob = OobPolicy(77); });
  refused([](Scatter& op) { op.combiner = CombinerKind(77); });
  refused([](Scatter& op) { op.init = InitKind(77); });
  refused([](Scatter& op) { op.order = Order(77); });
  refused([](Scatter& op) { op.accumulate = Accumulate(77); });
  refused([](Scatter& op) { op.extras[0].kind = ExtraKind(77); });
}

TEST(VerifyScatter, ANamedCombinerHasNoGraph) {
  const Expected<Op> parsed = parse_op(
      "strew1.scatter(operand=f32[8] indices=i32[3] updates=f32[3] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
      "index_vector_dim=1 combiner=expr expr={%0=update(0):f32; return %0})");
  ASSERT_TRUE(parsed.ok() && verify(*parsed).ok());
  Scatter op = std::get<Scatter>(*parsed);
  op.combiner = CombinerKind::add;
  EXPECT_EQ(verify(op).message(),
            "combiner is add with an expression graph; expected one with combiner expr only [scatter_combiner]");
}

TEST(VerifyScatter, EdgesAreLegal) {
  const char* const legal[] = {
      // rank 0, empty index vector
      "operand=f32[] indices=i8[0] updates=f32[] index_vector_dim=0",
      "operand=f32[] indices=u64[5,0] updates=f32[5] index_vector_dim=1 combiner=add",
      // one window, as large as the operand; index_vector_dim first
      "operand=i4[3,5] indices=u4[2] updates=i4[3,5] update_window_dims=[0,1] scatter_dims_to_operand_dims=[0,1] oob=wrap",
      // zero-size dims
      "operand=f32[0,16] indices=i32[4] updates=f32[4,16] update_window_dims=[1] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 oob=clamp",
      "operand=f32[8,0] indices=i32[0] updates=f32[0,0] update_window_dims=[1] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1",
      // movement-only dtypes, strings
      "operand=hif8[9] indices=i32[1] updates=hif8[2] update_window_dims=[0] scatter_dims_to_operand_dims=[0]",
      "operand=string[9] indices=i32[1] updates=string[2] update_window_dims=[0] scatter_dims_to_operand_dims=[0]",
      // conversions between all tensors, dynamic dims and strides everywhere, broadcast updates
      "operand=i8[?,16] result=complex64[8,?]{?,-1} indices=i32[?] updates=bf16[4,?]{0,0} update_window_dims=[1] "
      "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=div",
      // interleaved results, wide accumulation, fill
      "operand=[bf16[8,16],f16[8,16]] result=[bf16[8,16]{32,2},f16[8,16]{-32,2}] indices=i32[4] updates=[f32[4,16],bool[4,16]] "
      "update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=sub "
      "accumulate=wide init=fill fill=[1:bf16,-0:f16] order=relaxed unique_indices=true",
      // a weighted add
      "operand=f32[8,16] indices=i32[4] updates=bf16[4,16] extras=[per_position:f32[4],per_window:f16[16],scalar:i32[],"
      "per_element:bool[4,16]] update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
      "index_vector_dim=1 "
      "combiner=expr expr={%0=current(0):f32; %1=update(0):bf16; %2=convert(%1):f32; %3=extra(0):f32; %4=multiply(%2,%3):f32; "
      "%5=add(%0,%4):f32; return %5}",
  };
  for (const char* body : legal) EXPECT_EQ(scatter_verdict(body), "ok") << body;
}

}  // namespace
}  // namespace strew
