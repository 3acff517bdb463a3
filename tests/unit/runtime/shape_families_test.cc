// Which requests share a kernel that takes their extents from the call, and that such a kernel is held to the request's extents.
#include "runtime/shape_families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "strew/builder.h"
#include "strew/forms.h"
#include "strew/runtime.h"
#include "strew/text.h"

namespace strew {
namespace {

using namespace types;
using ::testing::HasSubstr;

PreparedOp prepared(const Expected<Scatter>& op, const KernelOptions& options = {}) {
  EXPECT_TRUE(op.ok()) << op.status().message();
  return *PreparedOp::of(*op, options);
}
PreparedOp prepared(const Expected<Gather>& op) {
  EXPECT_TRUE(op.ok()) << op.status().message();
  return *PreparedOp::of(*op);
}

Expected<Scatter> add_rows(int64_t rows, int64_t count, int64_t width) {
  return scatter_rows(f32({rows, width}), i32({count}), f32({count, width})).combine(CombinerKind::add).in_place().build();
}

/// The text of the op whose kernel serves the request; empty: its own.
std::string general(ShapeFamilies& families, const PreparedOp& op) {
  const auto found = families.note(op);
  return found == nullptr ? "" : print(*found->op.op());
}

TEST(ShapeFamilies, TheThirdCountBecomesASymbol) {
  ShapeFamilies families(2);
  EXPECT_EQ(general(families, prepared(add_rows(128, 1, 16))), "");
  EXPECT_EQ(general(families, prepared(add_rows(128, 2, 16))), "");
  const std::string op = general(families, prepared(add_rows(128, 3, 16)));
  EXPECT_THAT(op, HasSubstr("operand=f32[128,16] indices=i32[?] updates=f32[?,16]"));
  for (const int64_t count : {4, 1, 100'000}) EXPECT_EQ(general(families, prepared(add_rows(128, count, 16))), op) << count;
}

// They have the same form with all extents open, and what is open in one is an extent of the other.
TEST(ShapeFamilies, RequestsThatDifferInWhatIsOpen) {
  ShapeFamilies families(2);
  for (const int64_t rows : {10, 11}) EXPECT_EQ(general(families, prepared(add_rows(rows, 4, 16))), "");
  const std::string op = general(families, prepared(add_rows(12, 4, 16)));
  EXPECT_THAT(op, HasSubstr("operand=f32[?,16] indices=i32[4] updates=f32[4,16]"));
  EXPECT_EQ(general(families, prepared(add_rows(kDynamic, 4, 16))), op);
  EXPECT_EQ(general(families, prepared(add_rows(10, kDynamic, 16))), "");
  EXPECT_EQ(general(families, prepared(add_rows(kDynamic, kDynamic, 16))), "");
  EXPECT_EQ(general(families, prepared(add_rows(kDynamic, kDynamic, kDynamic))), "");
  EXPECT_EQ(general(families, prepared(add_rows(13, 4, 16))), op);
}

TEST(ShapeFamilies, TheSameRequestIsNoNewEvidence) {
  ShapeFamilies families(2);
  for (int i = 0; i < 10; ++i)
    for (const int64_t count : {1, 2}) EXPECT_EQ(general(families, prepared(add_rows(128, count, 16))), "");
}

TEST(ShapeFamilies, ATablesExtentThatGrowsBecomesASymbol) {
  ShapeFamilies families(2);
  for (const int64_t rows : {10, 11}) EXPECT_EQ(general(families, prepared(add_rows(rows, 4, 16))), "");
  EXPECT_THAT(general(families, prepared(add_rows(12, 4, 16))), HasSubstr("operand=f32[?,16] indices=i32[4] updates=f32[4,16]"));
}

TEST(ShapeFamilies, AWidthThatAloneChangesBecomesASymbol) {
  ShapeFamilies families(2);
  for (const int64_t width : {16, 17}) EXPECT_EQ(general(families, prepared(add_rows(128, 4, width))), "");
  EXPECT_THAT(general(families, prepared(add_rows(128, 4, 18))), HasSubstr("operand=f32[128,?] indices=i32[4] updates=f32[4,?]"));
}

// Three tables of a model, say: code for an open width would be slower for each of them.
TEST(ShapeFamilies, WidthsThatChangeTogetherWithCountsNeedMoreRequests) {
  ShapeFamilies families(2);
  for (int64_t i = 1; i <= 8; ++i) EXPECT_EQ(general(families, prepared(add_rows(128 * i, 4 * i, 16 * i))), "") << i;
  EXPECT_THAT(general(families, prepared(add_rows(77, 7, 7))), HasSubstr("operand=f32[?,?] indices=i32[?] updates=f32[?,?]"));
}

TEST(ShapeFamilies, AnExtentThatStartsToChangeLaterOpensToo) {
  ShapeFamilies families(2);
  for (const int64_t count : {1, 2, 3}) static_cast<void>(general(families, prepared(add_rows(128, count, 16))));
  EXPECT_EQ(general(families, prepared(add_rows(129, 9, 16))), "");
  EXPECT_EQ(general(families, prepared(add_rows(130, 9, 16))), "");
  EXPECT_THAT(general(families, prepared(add_rows(131, 9, 16))), HasSubstr("operand=f32[?,16] indices=i32[?] updates=f32[?,16]"));
}

TEST(ShapeFamilies, GathersKeepTheNumberOfComponentsAndTheSizesOfCollapsedDims) {
  ShapeFamilies families(1);
  const auto get = [](int64_t rows, int64_t count) { return gather_rows(f32({rows, 8}), i32({count})).build(); };
  EXPECT_EQ(general(families, prepared(get(10, 3))), "");
  EXPECT_THAT(general(families, prepared(get(10, 4))), HasSubstr("operand=f32[10,8] indices=i32[?] result=f32[?,8]"));
  EXPECT_THAT(general(families, prepared(get(10, 5))), HasSubstr("slice_sizes=[1,8]"));
}

TEST(ShapeFamilies, OtherOpsAreOtherFamilies) {
  ShapeFamilies families(1);
  EXPECT_EQ(general(families, prepared(add_rows(128, 1, 16))), "");
  const auto set = scatter_rows(f32({128, 16}), i32({2}), f32({2, 16})).in_place().build();
  EXPECT_EQ(general(families, prepared(set)), "");
  KernelOptions two_threads;
  two_threads.threads = 2;
  EXPECT_EQ(general(families, prepared(add_rows(128, 2, 16), two_threads)), "");
}

/// result[to[e]] += table[from[e]].
Expected<Scatter> add_looked_up(int64_t rows, int64_t sources, int64_t edges, int64_t width) {
  return scatter_rows(f32({rows, width}), i32({edges}), f32({edges, width}))
      .look_up(Role::updates, 0, gather_rows(f32({sources, width}), i32({edges})).oob(OobPolicy::error))
      .combine(CombinerKind::add)
      .in_place()
      .build();
}

TEST(ShapeFamilies, WhatALookUpMakesOpensWithWhatItStandsFor) {
  ShapeFamilies families(2);
  for (const int64_t edges : {5, 6}) EXPECT_EQ(general(families, prepared(add_looked_up(4, 9, edges, 2))), "");
  EXPECT_THAT(
      general(families, prepared(add_looked_up(4, 9, 7, 2))),
      HasSubstr("indices=i32[?] updates=f32[?,2] lookups=[updates(0)=gather(operand=f32[9,2] indices=i32[?] result=f32[?,2] "));
  ShapeFamilies tables(2);
  for (const int64_t sources : {8, 9}) EXPECT_EQ(general(tables, prepared(add_looked_up(4, sources, 5, 2))), "");
  EXPECT_THAT(general(tables, prepared(add_looked_up(4, 10, 5, 2))),
              HasSubstr("gather(operand=f32[?,2] indices=i32[5] result=f32[5,2] "));
  ShapeFamilies widths(2);
  for (const int64_t width : {2, 3}) EXPECT_EQ(general(widths, prepared(add_looked_up(4, 9, 5, width))), "");
  EXPECT_THAT(general(widths, prepared(add_looked_up(4, 9, 5, 4))),
              HasSubstr("lookups=[updates(0)=gather(operand=f32[9,?] indices=i32[5] result=f32[5,?] "));
}

TEST(ShapeFamilies, TablesOfWhichPartsAreReadStayAsTheyAre) {
  ShapeFamilies families(2);
  std::string op;
  for (const int64_t edges : {5, 6, 7}) {
    GatherBuilder rows = gather_rows(f32({9, 8}), i32({edges}));  // the first two of eight columns
    rows.slice_sizes({1, 2}).result(f32({edges, 2}));
    op = general(families, prepared(scatter_rows(f32({4, 2}), i32({edges}), f32({edges, 2}))
                                        .look_up(Role::updates, 0, rows)
                                        .combine(CombinerKind::add)
                                        .in_place()
                                        .build()));
  }
  EXPECT_THAT(op, HasSubstr("gather(operand=f32[9,8] indices=i32[?] result=f32[?,2] "));
}

TEST(ShapeFamilies, ChoicesOfTheCallerAndRelaxedSumsKeepTheirOwnKernels) {
  KernelOptions halide, strategy;
  halide.backend = BackendChoice::halide;
  strategy.schedule.strategy = Strategy::sequential;
  ShapeFamilies families(1), none(0);
  for (int64_t count = 1; count < 9; ++count) {
    EXPECT_EQ(general(families, prepared(add_rows(128, count, 16), halide)), "");
    EXPECT_EQ(general(families, prepared(add_rows(128, count, 16), strategy)), "");
    const auto relaxed =
        scatter_rows(f32({128, 16}), i32({count}), f32({count, 16})).combine(CombinerKind::add).in_place().relaxed().build();
    EXPECT_EQ(general(families, prepared(relaxed)), "");
    EXPECT_EQ(general(none, prepared(add_rows(128, count, 16))), "");
  }
}

TEST(ShapeFamilies, ARefusedKernelLeavesTheRequestsTheirOwn) {
  ShapeFamilies families(1);
  static_cast<void>(families.note(prepared(add_rows(128, 1, 16))));
  const auto found = families.note(prepared(add_rows(128, 2, 16)));
  ASSERT_NE(found, nullptr);
  found->is_refused = true;
  for (const int64_t count : {2, 3, 4}) EXPECT_EQ(general(families, prepared(add_rows(128, count, 16))), "");
}

// ---- Through the runtime ------------------------------------------------------------------------------------------------------------

/// Runs the kernel on ones, and returns the sum of each row of the table, or the message of the call.
std::string sums(const Kernel& kernel, int64_t rows, int64_t count, int64_t width) {
  std::vector<float> table(static_cast<size_t>(rows * width)), ones(static_cast<size_t>(count * width), 1.0F);
  std::vector<int32_t> indices(static_cast<size_t>(count));
  for (size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<int32_t>(i % 3);
  const std::vector<int64_t> table_dims = {rows, width}, index_dims = {count}, update_dims = {count, width};
  const Status status =
      kernel.run(std::vector<TensorView>{{table.data(), table_dims}, {indices.data(), index_dims}, {ones.data(), update_dims}});
  if (!status.ok()) return status.message();
  std::string out;
  for (int64_t row = 0; row < rows; ++row) {
    float sum = 0;
    for (int64_t i = 0; i < width; ++i) sum += table[static_cast<size_t>(row * width + i)];
    out += (row == 0 ? "" : " ") + std::to_string(static_cast<int>(sum));
  }
  return out;
}

TEST(ShapeFamilies, TenThousandLengthsMakeThreeKernels) {
  Runtime runtime{Options{}};
  for (int64_t count = 1; count <= 10'000; ++count) {
    const auto kernel = runtime.get(*add_rows(4, count, 2));
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    if (count % 997 == 0 || count < 5) {
      const int64_t each = count / 3, left = count % 3;
      EXPECT_EQ(sums(*kernel, 4, count, 2), std::to_string(2 * (each + (left > 0 ? 1 : 0))) + " " +
                                                std::to_string(2 * (each + (left > 1 ? 1 : 0))) + " " + std::to_string(2 * each) +
                                                " 0");
    }
  }
  EXPECT_EQ(runtime.stats().built, 3u);
  EXPECT_EQ(runtime.stats().generalised, 9'998u);
}

TEST(ShapeFamilies, ACallIsHeldToTheExtentsOfItsOp) {
  Runtime runtime{Options{}};
  Options exact;
  exact.exact_shapes = 0;
  Runtime alone(exact);
  for (const int64_t count : {1, 2, 3}) static_cast<void>(runtime.get(*add_rows(4, count, 2)));
  const auto shared = runtime.get(*add_rows(4, 6, 2)), own = alone.get(*add_rows(4, 6, 2));
  ASSERT_TRUE(shared.ok() && own.ok());
  EXPECT_NE(shared->symbol(), own->symbol());
  EXPECT_EQ(print(*shared->op()), print(*own->op()));
  EXPECT_EQ(sums(*shared, 4, 6, 2), "4 4 4 0");
  struct Shape {
    int64_t rows, count, width;
  };
  for (const auto& [rows, count, width] : std::vector<Shape>{{4, 7, 2}, {5, 6, 2}, {4, 6, 3}, {4, 0, 2}}) {
    EXPECT_EQ(sums(*shared, rows, count, width), sums(*own, rows, count, width));
    EXPECT_THAT(sums(*shared, rows, count, width), HasSubstr("expected"));
  }
}

// Wide accumulation is made of parts, and relies on scratch whose size follows from the extents.
TEST(ShapeFamilies, WideSumsShareKernelsToo) {
  const auto op = [](int64_t count) {
    return scatter_rows(bf16({8, 4}), i32({count}), bf16({count, 4}))
        .combine(CombinerKind::add)
        .accumulate(Accumulate::wide)
        .build();
  };
  Runtime runtime{Options{}};
  Expected<Kernel> kernel = Kernel();
  for (const int64_t count : {1, 2, 3, 300}) {
    kernel = runtime.get(*op(count));
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  }
  EXPECT_EQ(runtime.stats().generalised, 2u);
  std::vector<uint16_t> zeros(32), out(32), ones(1200, 0x3f80);
  const std::vector<int32_t> indices(300, 5);
  const std::vector<int64_t> dims = {8, 4}, index_dims = {300}, update_dims = {300, 4};
  ASSERT_TRUE(kernel
                  ->run(std::vector<TensorView>{{out.data(), DType::bf16, dims},
                                                {zeros.data(), DType::bf16, dims},
                                                {indices.data(), index_dims},
                                                {ones.data(), DType::bf16, update_dims}})
                  .ok());
  EXPECT_EQ(out[20], 0x4396);  // 300 in bf16; sums that were rounded after each update would stick at 256
  EXPECT_EQ(out[0], 0);
}

TEST(ShapeFamilies, LookUpsOfManyExtentsShareAKernelAndItsChecks) {
  Runtime runtime{Options{}};
  std::string symbol;
  const std::vector<int32_t> from = {2, 0, 1, 1, 2, 0, 2, 1}, to = {0, 1, 1, 3, 3, 3, 0, 2};
  for (int64_t edges = 1; edges <= 8; ++edges) {
    const Expected<Kernel> kernel = runtime.get(*add_looked_up(4, 3, edges, 2));
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    if (edges == 5) symbol = kernel->symbol();
    if (edges > 5) EXPECT_EQ(kernel->symbol(), symbol) << edges;
    std::vector<float> result(8, 0.0F), expected(8, 0.0F), table = {1, 2, 3, 4, 5, 6};
    std::vector<int32_t> destinations(to.begin(), to.begin() + edges), sources(from.begin(), from.begin() + edges);
    for (size_t e = 0; e < sources.size(); ++e)
      for (size_t w = 0; w < 2; ++w)
        expected[static_cast<size_t>(destinations[e]) * 2 + w] += table[static_cast<size_t>(sources[e]) * 2 + w];
    const std::vector<int64_t> rows_dims{4, 2}, table_dims{3, 2}, edges_dims{edges}, fewer_dims{edges - 1};
    const TensorView rows(result.data(), rows_dims), places(destinations.data(), edges_dims), sums(table.data(), table_dims),
        at(sources.data(), edges_dims), fewer(sources.data(), fewer_dims);
    const std::vector<TensorView> views{rows, places, sums, at};
    ASSERT_TRUE(kernel->run(views).ok());
    EXPECT_EQ(result, expected) << edges;
    EXPECT_THAT(kernel->run(std::vector<TensorView>{rows, places, sums, fewer}).message(), HasSubstr("indices 1: dim 0"));
    sources.back() = 3;
    EXPECT_THAT(kernel->run(views).message(), HasSubstr("look-up of updates 0"));
    EXPECT_EQ(result, expected) << edges;
  }
}

}  // namespace
}  // namespace strew
