// Every label that verify() can give for look-ups, with its message pinned, and ops at the edge that are legal. Ops are written as text.
#include <string>

#include "gtest/gtest.h"
#include "strew/builder.h"
#include "strew/forms.h"
#include "tests/support/rule_label.h"
#include "tests/support/verdict.h"

namespace strew {
namespace {

using test::scatter_verdict;

const std::string kRows =
    "operand=f32[8,16] indices=i32[4] updates=f32[4,16] update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add lookups=";
const std::string kRowDims = " offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 ";
std::string row_lookup(const std::string& fields) {
  return "[updates(0)=gather(operand=f32[9,16] indices=i64[4] result=f32[4,16]" + kRowDims + "slice_sizes=[1,16]" + fields + ")]";
}

TEST(VerifyLookups, PoliciesOfGathersAndThoseThatSkipAreLegal) {
  for (const char* const policy :
       {"undefined", "clamp", "wrap", "error", "skip_element", "skip_window", "fill_window fill=1.5:f32"})
    EXPECT_EQ(scatter_verdict(kRows + row_lookup(std::string(" oob=") + policy)), "ok") << policy;
}

TEST(VerifyLookups, ExtrasPerElementAndPositionAreLegal) {
  const std::string graph =
      "operand=f32[8,16] indices=i32[4] updates=f32[4,16] extras=[per_position:f32[4],per_element:f32[4,16]] "
      "update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=expr "
      "expr={%0=current(0):f32; %1=update(0):f32; %2=extra(0):f32; %3=extra(1):f32; %4=multiply(%1,%2):f32; %5=add(%0,%4):f32; "
      "%6=add(%5,%3):f32; return %6} lookups=[extra(0)=gather(operand=f32[7] indices=i32[4] result=f32[4] "
      "collapsed_slice_dims=[0] "
      "start_index_map=[0] index_vector_dim=1 slice_sizes=[1]),extra(1)=gather(operand=f32[9,16] indices=i64[4] "
      "result=f32[4,16]" +
      kRowDims + "slice_sizes=[1,16])]";
  EXPECT_EQ(scatter_verdict(graph), "ok");
}

TEST(VerifyLookups, OpenWindowsAreWholeDimsOfTheTable) {
  EXPECT_EQ(scatter_verdict(
                "operand=f32[?,?] indices=i32[?] updates=f32[?,?] update_window_dims=[1] inserted_window_dims=[0] "
                "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add lookups=[updates(0)=gather(operand=f32[?,?] "
                "indices=i64[?] result=f32[?,?]" +
                kRowDims + "slice_sizes=[1,?])]"),
            "ok");
}

struct Case {
  std::string lookups, message;
};
std::string label_of(const testing::TestParamInfo<Case>& info) {
  return test::rule_label(info.param.message) + "_" + std::to_string(info.index);
}
class VerifyLookupsLabel : public testing::TestWithParam<Case> {};
TEST_P(VerifyLookupsLabel, NamesFieldValueAndExpectation) {
  EXPECT_EQ(scatter_verdict(kRows + GetParam().lookups), GetParam().message);
}

std::string of(const std::string& tensor, const std::string& body) { return "[" + tensor + "=gather(" + body + ")]"; }
const std::string kGather = "operand=f32[9,16] indices=i64[4] result=f32[4,16]" + kRowDims + "slice_sizes=[1,16]";

INSTANTIATE_TEST_SUITE_P(
    All, VerifyLookupsLabel,
    testing::Values(
        Case{of("indices(0)", kGather), "lookups[0] stands for indices; expected updates or extra [lookup_tensor]"},
        Case{of("updates(1)", kGather), "lookups[0] stands for updates 1; expected a number from 0 to below 1 [lookup_tensor]"},
        Case{of("extra(0)", kGather), "lookups[0] stands for extra 0; expected a number from 0 to below 0 [lookup_tensor]"},
        Case{"[updates(0)=gather(" + kGather + "),updates(0)=gather(" + kGather + ")]",
             "lookups[1] stands for updates 0, and the one before for updates 0; expected updates before extras, each once and "
             "in the "
             "order of their numbers [lookup_tensor]"},
        Case{of("updates(0)", kGather + " expr={%0=current(0):f32; return %0}"),
             "lookups[0] has extras or an expression; expected none: the scatter's expression reads what it gathers "
             "[lookup_gather]"},
        Case{of("updates(0)", "operand=f32[9,16] indices=i64[4] result=f32[4,16]{16,1}" + kRowDims + "slice_sizes=[1,16]"),
             "lookups[0] has the result f32[4,16]{16,1}; expected that of updates 0, f32[4,16], without strides [lookup_gather]"},
        Case{of("updates(0)", "operand=f32[9,16] indices=i64[5] result=f32[5,16]" + kRowDims + "slice_sizes=[1,16]"),
             "lookups[0] has the result f32[5,16]; expected that of updates 0, f32[4,16], without strides [lookup_gather]"},
        Case{of("updates(0)", "operand=f64[9,16] indices=i64[4] result=f32[4,16]" + kRowDims + "slice_sizes=[1,16]"),
             "lookups[0] converts f64 to f32; expected one dtype: the scatter's expression converts [lookup_gather]"},
        Case{of("updates(0)", "operand=f32[9,16] indices=f32[4] result=f32[4,16]" + kRowDims + "slice_sizes=[1,16]"),
             "lookups[0]: indices is f32[4]; expected an integer dtype from i4 to i64 or u4 to u64 [gather_index_dtype]"},
        Case{of("updates(0)",
                "operand=f32[9,4] indices=i64[16] result=f32[4,16] offset_dims=[0] collapsed_slice_dims=[0] "
                "start_index_map=[0] index_vector_dim=1 slice_sizes=[1,4]"),
             "lookups[0] has offset_dims [0]; expected [1], the scatter's update_window_dims [lookup_dims]"},
        Case{of("updates(0)", "operand=f32[9,?] indices=i64[4] result=f32[4,16]" + kRowDims + "slice_sizes=[1,16]"),
             "lookups[0] has slice_sizes [1,16] of table f32[9,?]; expected dim 1 of the table to be static, or entry 1 to be ?, "
             "the "
             "whole dim [lookup_dims]"},
        Case{
            of("updates(0)", "operand=f32[9,16] indices=i64[4] result=f32[4,16]" + kRowDims + "slice_sizes=[1,?]"),
            "lookups[0] has slice_sizes [1,?]; expected entry 1 to be 16, the extent of what it makes, f32[4,16] [lookup_dims]"}),
    label_of);

/// What no bound tensor could tell a call must follow from the op: such ops are refused, however their extents could turn out.
TEST(VerifyLookups, ExtentsOfWhatIsMadeAreThoseOfTheScatter) {
  const std::string dims =
      " update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add ";
  const auto label = [](const std::string& body) { return test::rule_label(scatter_verdict(body)); };
  const auto rows = [&](const std::string& tensor, const std::string& table, const std::string& made, const std::string& slices) {
    return tensor + "=gather(operand=" + table + " indices=i64[?] result=" + made + kRowDims + "slice_sizes=[1," + slices + "])";
  };
  const std::string one = "operand=f32[8,16] indices=i32[?] updates=",
                    two = "operand=[f32[8,?],f32[8,?]] indices=i32[?] updates=";
  EXPECT_EQ(label(one + "f32[4,16]" + dims + "lookups=[" + rows("updates(0)", "f32[9,16]", "f32[4,16]", "16") + "]"),
            "lookup_dims");
  EXPECT_EQ(label(two + "[f32[?,16],f32[4,16]]" + dims + "lookups=[" + rows("updates(1)", "f32[9,16]", "f32[4,16]", "16") + "]"),
            "lookup_dims");
  EXPECT_EQ(label(two + "[f32[?,?],f32[?,16]]" + dims + "lookups=[" + rows("updates(0)", "f32[9,?]", "f32[?,?]", "?") + "," +
                  rows("updates(1)", "f32[9,16]", "f32[?,16]", "16") + "]"),
            "lookup_dims");
  EXPECT_EQ(label(two + "[f32[?,?],f32[?,16]]" + dims + "lookups=[" + rows("updates(1)", "f32[9,16]", "f32[?,16]", "16") + "]"),
            "lookup_dims");
  EXPECT_EQ(label(two + "[f32[?,?],f32[?,?]]" + dims + "lookups=[" + rows("updates(0)", "f32[9,?]", "f32[?,?]", "?") + "," +
                  rows("updates(1)", "f32[7,?]", "f32[?,?]", "?") + "]"),
            "");
}

TEST(LookupBuilder, MakesTheGathersResultAndSorts) {
  using namespace types;
  const auto rows = [] { return gather_rows(f32({9, 16}), i64({4})).oob(OobPolicy::skip_window); };
  const Expected<Scatter> op = scatter_rows(f32({8, 16}), i32({4}), f32({4, 16}))
                                   .look_up(Role::updates, 0, rows())
                                   .combine(CombinerKind::add)
                                   .in_place()
                                   .build();
  ASSERT_TRUE(op.ok()) << op.status().message();
  EXPECT_EQ(op->lookups[0].gather.result, f32({4, 16}));
  const Op whole(*op);
  const std::vector<TensorSlot> slots = tensor_slots(whole);
  ASSERT_EQ(slots.size(), 4);
  EXPECT_EQ(slots[2].role, Role::updates);
  EXPECT_EQ(*slots[2].type, f32({9, 16}));
  EXPECT_EQ(slots[3].role, Role::indices);
  EXPECT_EQ(slots[3].index, 1);
  EXPECT_EQ(*slots[3].type, i64({4}));
  EXPECT_EQ(scatter_rows(f32({8, 16}), i32({4}), f32({4, 16})).look_up(Role::extra, 0, rows()).build().status().message(),
            "lookups[0] stands for extra 0; expected a number from 0 to below 0 [lookup_tensor]");
}

}  // namespace
}  // namespace strew
