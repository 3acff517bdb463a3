// Builders and the familiar forms: pinned as canonical text, which shows every dimension number.
#include "strew/builder.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "strew/forms.h"
#include "strew/text.h"
#include "tests/support/rule_label.h"

namespace strew {
namespace {

using namespace types;  // NOLINT(google-build-using-namespace): how callers write it

template <class Builder>
std::string text(const Builder& builder) {
  const auto op = builder.build();
  return op.ok() ? print(Op(*op)) : op.status().message();
}

TEST(Builder, ScatterSaysEverythingAnOpCanHold) {
  ExprBuilder e;
  const int32_t update = e.convert(e.update(0, DType::bf16), DType::f32);
  const int32_t weighted = e.mul(update, e.extra(0, DType::f32));
  const Expr graph = e.returns({e.add(e.current(0, DType::f32), weighted)});
  EXPECT_EQ(
      text(ScatterBuilder()
               .operand(f32({8, 16}))
               .indices(i32({4}))
               .updates(bf16({4, 16}, {0, 1}))
               .result(f32({8, 16}, {32, 1}))
               .extra(ExtraKind::per_position, f32({4}))
               .update_window_dims({1})
               .inserted_window_dims({0})
               .scatter_dims_to_operand_dims({0})
               .index_vector_dim(1)
               .combine(graph)
               .fill({{DType::f32, {0, 0}}})
               .oob(OobPolicy::clamp)
               .normalize_negative()
               .relaxed()
               .indices_are_sorted()
               .unique_indices()),
      "strew1.scatter(operand=f32[8,16] indices=i32[4] updates=bf16[4,16]{0,1} extras=[per_position:f32[4]] "
      "result=f32[8,16]{32,1} update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
      "index_vector_dim=1 combiner=expr expr={%0=update(0):bf16; %1=convert(%0):f32; %2=extra(0):f32; %3=multiply(%1,%2):f32; "
      "%4=current(0):f32; %5=add(%4,%3):f32; return %5} init=fill fill=0:f32 oob=clamp normalize_negative=true order=relaxed "
      "indices_are_sorted=true unique_indices=true)");
}

/// Sets the fields one by one, twice, and in between to text that is none. Returns the text of an op of `kind` that has these fields in this order.
template <class Builder>
std::string set_all(Builder& builder, const std::string& kind, const std::vector<std::pair<const char*, const char*>>& fields) {
  std::string expected = "strew1." + kind + "(";
  for (const auto& [field, value] : fields) {
    EXPECT_TRUE(builder.set(field, value).ok()) << field;
    EXPECT_EQ(builder.set(field, "(none").code(), Code::invalid_argument) << field;
    EXPECT_TRUE(builder.set(field, value).ok()) << field;
    expected.append(field).append("=").append(value).append(" ");
  }
  expected.back() = ')';
  return expected;
}

TEST(Builder, EveryFieldIsSetFromItsText) {
  ScatterBuilder scatter;
  const std::string of_scatter = set_all(
      scatter, "scatter",
      {{"operand", "f32[8,16]"},
       {"indices", "i32[4]"},
       {"updates", "bf16[4,16]{0,1}"},
       {"extras", "[per_position:f32[4]]"},
       {"result", "f32[8,16]{32,1}"},
       {"update_window_dims", "[1]"},
       {"inserted_window_dims", "[0]"},
       {"scatter_dims_to_operand_dims", "[0]"},
       {"index_vector_dim", "1"},
       {"combiner", "expr"},
       {"expr",
        "{%0=update(0):bf16; %1=convert(%0):f32; %2=extra(0):f32; %3=multiply(%1,%2):f32; %4=current(0):f32; %5=add(%4,%3):f32; "
        "return %5}"},
       {"init", "fill"},
       {"fill", "0:f32"},
       {"oob", "clamp"},
       {"normalize_negative", "true"},
       {"order", "relaxed"},
       {"indices_are_sorted", "true"},
       {"unique_indices", "true"}});
  EXPECT_EQ(text(scatter), of_scatter);
  ASSERT_TRUE(scatter.set("combiner", "max").ok());
  ASSERT_TRUE(scatter.set("extras", "[]").ok());
  EXPECT_NE(text(ScatterBuilder(scatter).relaxed(false)).find("combiner=max init=fill"), std::string::npos);

  ScatterBuilder batched = scatter_elements(bf16({3, 8}), i64({3, 4}), bf16({3, 4}), 1);
  ASSERT_TRUE(batched.set("input_batching_dims", "[0]").ok());
  ASSERT_TRUE(batched.set("scatter_indices_batching_dims", "[0]").ok());
  ASSERT_TRUE(batched.set("combiner", "add").ok());
  ASSERT_TRUE(batched.set("accumulate", "wide").ok());
  EXPECT_NE(text(batched).find("input_batching_dims=[0] scatter_indices_batching_dims=[0]"), std::string::npos);
  EXPECT_NE(text(batched).find("accumulate=wide"), std::string::npos);

  GatherBuilder gather;
  const std::string of_gather = set_all(gather, "gather",
                                        {{"operand", "f32[?,64]"},
                                         {"indices", "u32[7]"},
                                         {"result", "f16[7,64]{128,1}"},
                                         {"offset_dims", "[1]"},
                                         {"collapsed_slice_dims", "[0]"},
                                         {"start_index_map", "[0]"},
                                         {"index_vector_dim", "1"},
                                         {"slice_sizes", "[1,64]"},
                                         {"oob", "fill_window"},
                                         {"fill", "-1.5:f32"}});
  EXPECT_EQ(text(gather), of_gather);
}

TEST(Builder, IndexTensorsOfTheirOwn) {
  const ScatterBuilder at = scatter_at(f32({8, 16, 3}), {i64({4}), i32({4}, {0})}, f32({4, 3}));
  EXPECT_EQ(
      text(at),
      "strew1.scatter(operand=f32[8,16,3] indices=i64[4] more_indices=i32[4]{0} updates=f32[4,3] update_window_dims=[1] "
      "inserted_window_dims=[0,1] scatter_dims_to_operand_dims=[0,1] index_vector_dim=1 oob=error normalize_negative=true)");
  EXPECT_EQ(text(gather_at(f32({8, 16}), {i64({4}), i32({4}), i32({4})})),
            "gather_at: 3 index tensors; expected from 1 to 2, the rank of operand");
  EXPECT_EQ(text(scatter_at(f32({8, 16}), {}, f32({4}))),
            "scatter_at: 0 index tensors; expected from 1 to 2, the rank of operand");
}

TEST(Builder, TextThatIsNoFieldIsRefused) {
  ScatterBuilder rows = scatter_rows(f32({8, 16}), i64({4}), f32({4, 16}));
  const std::string before = text(rows);
  EXPECT_EQ(rows.set("oob", "sometimes").message(),
            "oob, offset 0: found \"sometimes\"; expected one of undefined, skip_element, skip_window, clamp, wrap, error, "
            "fill_element, fill_window");
  EXPECT_EQ(rows.set("oob", "clamp clamp").message(), "oob, offset 6: found \"clamp\"; expected the end of the text");
  EXPECT_EQ(rows.set("update_window_dims", "[1").message(), "update_window_dims, offset 2: the text ends; expected ',' or ']'");
  EXPECT_NE(rows.set("slice_sizes", "[1]")
                .message()
                .find("field: 'slice_sizes', expected one of operand, indices, more_indices, updates"),
            std::string::npos);
  EXPECT_NE(rows.set("", "").message().find("field: '', expected one of"), std::string::npos);
  EXPECT_NE(rows.set("expr", std::string((size_t{1} << 20) + 1, ' ')).message().find("expected at most"), std::string::npos);
  EXPECT_EQ(text(rows), before);
  GatherBuilder gather = gather_rows(f32({8, 16}), i64({4}));
  EXPECT_NE(gather.set("combiner", "add").message().find("field: 'combiner'"), std::string::npos);
}

TEST(Builder, ResultsFollowTheOperands) {
  const auto rows = scatter_rows(f32({8, 16}, {32, 1}), i64({4}), f32({4, 16}));
  EXPECT_EQ(rows.build()->results[0], f32({8, 16})) << "a copy is contiguous";
  EXPECT_EQ(ScatterBuilder(rows).in_place().build()->results[0], f32({8, 16}, {32, 1}));
}

TEST(Builder, BuildVerifies) {
  EXPECT_EQ(text(scatter_rows(f32({8, 16}), i64({4}), f32({5, 16}))),
            "updates[0] is f32[5,16]; expected dims [4,16], from indices i64[4] and update_window_dims [1] [scatter_c4]");
  EXPECT_EQ(text(scatter_rows(f32({}), i64({4}), f32({4}))),
            "scatter_rows: axis is 0; expected from 0 to -1 for an operand of rank 0");
  EXPECT_EQ(text(GatherBuilder()),
            "indices is f32[]; expected an integer dtype from i4 to i64 or u4 to u64 [gather_index_dtype]");
}

TEST(Builder, ValuesAreNotMadeUp) {
  const auto gather = [] { return gather_rows(bf16({8, 16}), i64({4})); };
  const std::string message = "fill has no value; expected one of dtype bf16, as from Scalar::of [gather_fill]";
  EXPECT_EQ(text(gather().oob(OobPolicy::fill_element)), message);
  EXPECT_EQ(text(gather().fill(OobPolicy::fill_window, Scalar{})), message);
  EXPECT_EQ(text(gather().fill(OobPolicy::fill_window, Scalar::of(0.0F))),
            "fill is 0 of dtype f32; expected dtype bf16 [gather_fill]");
  EXPECT_EQ(text(scatter_rows(f32({8, 16}), i64({4}), f32({4, 16})).fill({Scalar{}})),
            "fill[0] has no value; expected one of dtype f32, as from Scalar::of [scatter_fill]");
}

TEST(Builder, GatherDerivesItsResult) {
  ExprBuilder e;
  EXPECT_EQ(text(gather_rows(bf16({8, 16}), i64({2, 3}))
                     .expr(e.returns({e.convert(e.current(0, DType::bf16), DType::f64)}))
                     .fill(OobPolicy::fill_element, {DType::bf16, {0x3f80, 0}})),
            "strew1.gather(operand=bf16[8,16] indices=i64[2,3] result=f64[2,3,16] offset_dims=[2] collapsed_slice_dims=[0] "
            "start_index_map=[0] index_vector_dim=2 slice_sizes=[1,16] expr={%0=current(0):bf16; %1=convert(%0):f64; return %1} "
            "oob=fill_element fill=1:bf16)");
}

TEST(Forms, DynamicUpdateSlice) {
  EXPECT_EQ(text(dynamic_update_slice(f32({4, 5}), i32({2}), f32({2, 5}))),
            "strew1.scatter(operand=f32[4,5] indices=i32[2] updates=f32[2,5] update_window_dims=[0,1] "
            "scatter_dims_to_operand_dims=[0,1] oob=clamp)");
  EXPECT_EQ(text(dynamic_update_slice(f32({}), i32({0}), f32({}))),
            "strew1.scatter(operand=f32[] indices=i32[0] updates=f32[] oob=clamp)");
}

TEST(Forms, DynamicSlice) {
  EXPECT_EQ(
      text(dynamic_slice(f32({4, 5}), i32({2}), {2, 5})),
      "strew1.gather(operand=f32[4,5] indices=i32[2] result=f32[2,5] offset_dims=[0,1] start_index_map=[0,1] slice_sizes=[2,5])");
}

TEST(Forms, TensorScatter) {
  const TensorType cache = bf16({8, 8, 2048, 128}), update = bf16({8, 8, 1, 128});
  const std::string common =
      "strew1.scatter(operand=bf16[8,8,2048,128] indices=i64[8] updates=bf16[8,8,1,128] update_window_dims=[1,2,3] "
      "input_batching_dims=[0] scatter_indices_batching_dims=[0] scatter_dims_to_operand_dims=[2] index_vector_dim=1 ";
  EXPECT_EQ(text(tensor_scatter(cache, i64({8}), update)), common + "oob=error)");
  EXPECT_EQ(text(tensor_scatter(cache, i64({8}), update, 2, true)), common + "oob=wrap)");
  EXPECT_EQ(text(tensor_scatter(f32({3, 7}), i64({3}), f32({3, 2}))),
            "tensor_scatter: axis is -2, which is dim 0 of an operand of rank 2; expected another: dim 0 is the batch");
  EXPECT_EQ(text(tensor_scatter(cache, i64({8}), update, 4)),
            "tensor_scatter: axis is 4; expected from -4 to 3 for an operand of rank 4");
}

TEST(Forms, RowsOfARankOneTableAreElements) {
  EXPECT_EQ(text(scatter_rows(f32({100}), u32({4, 5}), f32({4, 5})).combine(CombinerKind::max)),
            "strew1.scatter(operand=f32[100] indices=u32[4,5] updates=f32[4,5] inserted_window_dims=[0] "
            "scatter_dims_to_operand_dims=[0] index_vector_dim=2 combiner=max)");
  EXPECT_EQ(text(gather_rows(f32({100}), u32({4, 5})).oob(OobPolicy::wrap)),
            "strew1.gather(operand=f32[100] indices=u32[4,5] result=f32[4,5] collapsed_slice_dims=[0] start_index_map=[0] "
            "index_vector_dim=2 slice_sizes=[1] oob=wrap)");
}

TEST(Forms, ScatterElementsTakesSmallerIndices) {
  EXPECT_EQ(text(scatter_elements(f32({3, 4, 5}), i64({2, 4, 9}), f32({2, 4, 9}), -1)),
            "strew1.scatter(operand=f32[3,4,5] indices=i64[2,4,9] updates=f32[2,4,9] inserted_window_dims=[2] "
            "input_batching_dims=[0,1] scatter_indices_batching_dims=[0,1] scatter_dims_to_operand_dims=[2] index_vector_dim=3 "
            "oob=error normalize_negative=true)");
  EXPECT_EQ(text(scatter_elements(f32({3}), i64({2}), f32({2}), 1)),
            "scatter_elements: axis is 1; expected from -1 to 0 for an operand of rank 1");
}

TEST(Forms, GatherElements) {
  EXPECT_EQ(text(gather_elements(f32({3, 4}), i64({2, 4}), 0)),
            "strew1.gather(operand=f32[3,4] indices=i64[2,4] result=f32[2,4] collapsed_slice_dims=[0] operand_batching_dims=[1] "
            "start_indices_batching_dims=[1] start_index_map=[0] index_vector_dim=2 slice_sizes=[1,1] oob=error "
            "normalize_negative=true)");
}

TEST(Forms, ScatterNd) {
  EXPECT_EQ(
      text(scatter_nd(f32({4, 5, 6}), i64({7, 8, 2}), f32({7, 8, 6}))),
      "strew1.scatter(operand=f32[4,5,6] indices=i64[7,8,2] updates=f32[7,8,6] update_window_dims=[2] "
      "inserted_window_dims=[0,1] scatter_dims_to_operand_dims=[0,1] index_vector_dim=2 oob=error normalize_negative=true)");
  EXPECT_EQ(text(scatter_nd(f32({4}), i64({7, 2}), f32({7}))),
            "scatter_nd: the last dim of indices, the length of its index vectors, is 2; expected from 0 to 1");
  EXPECT_EQ(text(scatter_nd(f32({4}), i64({7, kDynamic}), f32({7}))),
            "scatter_nd: the last dim of indices, the length of its index vectors, is ?; expected a static extent");
}

TEST(Forms, GatherNdWithBatchDims) {
  EXPECT_EQ(
      text(gather_nd(f32({2, 3, 4}), i64({2, 7, 1}), 1)),
      "strew1.gather(operand=f32[2,3,4] indices=i64[2,7,1] result=f32[2,7,4] offset_dims=[2] collapsed_slice_dims=[1] "
      "operand_batching_dims=[0] start_indices_batching_dims=[0] start_index_map=[1] index_vector_dim=2 slice_sizes=[1,1,4] "
      "oob=error normalize_negative=true)");
  EXPECT_EQ(text(gather_nd(f32({2, 3}), i64({2, 1}), 2)),
            "gather_nd: batch_dims is 2; expected from 0 to 1, less than the rank of indices and at most the rank of operand");
}

TEST(Forms, GatherReplacesTheAxis) {
  EXPECT_EQ(text(gather(f32({2, 3, 4, 5}), i64({2, 7, 8}), 2, 1)),
            "strew1.gather(operand=f32[2,3,4,5] indices=i64[2,7,8] result=f32[2,3,7,8,5] offset_dims=[1,4] "
            "collapsed_slice_dims=[2] operand_batching_dims=[0] start_indices_batching_dims=[0] start_index_map=[2] "
            "index_vector_dim=3 slice_sizes=[1,3,1,5] oob=error normalize_negative=true)");
  EXPECT_EQ(text(gather(f32({kDynamic, 4}), i64({}), -1)),
            "strew1.gather(operand=f32[?,4] indices=i64[] result=f32[?] offset_dims=[0] collapsed_slice_dims=[1] "
            "start_index_map=[1] slice_sizes=[?,1] oob=error normalize_negative=true)");
  EXPECT_EQ(text(gather(f32({3, 4}), i64({2}), 0, 1)),
            "gather: batch_dims is 1; expected from 0 to 0, at most axis and the rank of indices");
}

TEST(Forms, EmptyTablesAreForThePolicy) {
  EXPECT_TRUE(gather(f32({0, 4}), i64({2})).build().ok()) << "error: reported at the call";
  EXPECT_EQ(test::rule_label(text(gather(f32({0, 4}), i64({2})).oob(OobPolicy::clamp))), "gather_empty");
}

}  // namespace
}  // namespace strew
