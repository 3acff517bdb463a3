// Look-ups: a scatter that reads rows of a table means the gather into a tensor and the scatter of that tensor, with the same bits on every backend,
// strategy and number of threads. Policies that drop a row have no gather of their own, so they are compared with plain loops. The reference is run
// on its own, by hand. tests/differential draws look-ups of every form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/halide/can_build/can_build.h"
#include "strew/builder.h"
#include "strew/forms.h"
#include "strew/runtime.h"
#include "tests/support/ops.h"
#include "tests/support/options.h"
#include "tests/support/views.h"
#include "tests/unit/backends/reference/reference_testing.h"

namespace strew {
namespace {

using namespace types;              // NOLINT: f32, i32
using namespace testing_reference;  // NOLINT: run
using test::Views;

const std::string kElements =
    "strew1.scatter(operand=i32[4] indices=i32[3] updates=i32[3] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
    "index_vector_dim=1 combiner=add oob=error lookups=[updates(0)=gather(operand=i32[3] indices=i64[3] result=i32[3] "
    "collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 slice_sizes=[1] ";

std::string on_reference(const std::string& policy, const std::string& destinations, const std::string& sources) {
  return run(kElements + policy + ")])", {"1 2 3 4", destinations, "10 20 30", sources});
}

TEST(ReferenceLookup, Policies) {
  EXPECT_EQ(on_reference("", "0 3 0", "2 0 1"), "51 2 3 14");
  EXPECT_EQ(on_reference("", "0 3 0", "9 0 -5"), "41 2 3 14");
  EXPECT_EQ(on_reference("oob=wrap", "0 3 0", "3 4 -1"), "41 2 3 24");
  EXPECT_EQ(on_reference("oob=skip_window", "0 3 0", "3 1 -1"), "1 2 3 24");
  EXPECT_EQ(on_reference("oob=fill_element fill=7:i32", "0 3 0", "3 1 -1"), "15 2 3 24");
  EXPECT_EQ(on_reference("normalize_negative=true", "0 3 0", "-1 -2 -3"), "41 2 3 24");
}

TEST(ReferenceLookup, TheSmallestPositionIsReportedAndThereTheDestination) {
  const std::string own = "index out of bounds: update position [1] (linear 1), component 0: value 4, expected 0 <= v <= 3";
  const auto look_up = [](int position, int value) {
    return "index out of bounds: look-up of updates 0, position [" + std::to_string(position) + "] (linear " +
           std::to_string(position) + "), component 0: value " + std::to_string(value) + ", expected 0 <= v <= 2";
  };
  EXPECT_EQ(on_reference("oob=error", "0 4 0", "0 1 3"), own);
  EXPECT_EQ(on_reference("oob=error", "0 4 0", "0 3 1"), own);
  EXPECT_EQ(on_reference("oob=error", "0 4 0", "-1 3 1"), look_up(0, -1));
  EXPECT_EQ(on_reference("oob=error", "0 3 0", "0 1 3"), look_up(2, 3));
}

/// dst[to[e]] += src[from[e]] of rows, with repeated destinations and sums that are not exact.
struct Edges {
  static constexpr int64_t kTargets = 37, kSources = 53, kEdges = 700;

  explicit Edges(int64_t width) : width(width) {
    for (int64_t i = 0; i < kSources * width; ++i) table.push_back(0.1F * static_cast<float>(i % 97) - 3.0F);
    for (int64_t i = 0; i < kTargets * width; ++i) start.push_back(1.0F / static_cast<float>(1 + i % 31));
    for (int64_t e = 0; e < kEdges; ++e) {
      to.push_back(static_cast<int32_t>(e * 2654435761 % kTargets));
      from.push_back(e * 40503 % (kSources + 6) - 3);
    }
  }

  Expected<Scatter> op(OobPolicy policy, OobPolicy own = OobPolicy::skip_window) const {
    GatherBuilder rows = gather_rows(f32({kSources, width}), i64({kEdges})).oob(policy);
    if (is_fill(policy)) rows.fill(policy, Scalar::of(2.5F));
    return scatter_rows(f32({kTargets, width}), i32({kEdges}), f32({kEdges, width}))
        .look_up(Role::updates, 0, rows)
        .combine(CombinerKind::add)
        .in_place()
        .oob(own)
        .build();
  }
  Views views(std::vector<float>& result) {
    return Views()
        .add(result.data(), DType::f32, {kTargets, width})
        .add(to.data(), DType::i32, {kEdges})
        .add(table.data(), DType::f32, {kSources, width})
        .add(from.data(), DType::i64, {kEdges});
  }
  std::vector<float> expected(OobPolicy policy) const {
    std::vector<float> out = start;
    for (size_t e = 0; e < to.size(); ++e) {
      int64_t row = from[e];
      const bool inside = row >= 0 && row < kSources;
      if (policy == OobPolicy::clamp) row = std::clamp<int64_t>(row, 0, kSources - 1);
      if (policy == OobPolicy::wrap) row = (row + kSources) % kSources;
      if (policy == OobPolicy::skip_window && !inside) continue;
      for (int64_t w = 0; w < width; ++w) {
        float& target = out[static_cast<size_t>(to[e] * width + w)];
        target += is_fill(policy) && !inside ? 2.5F : table[static_cast<size_t>(row * width + w)];
      }
    }
    return out;
  }

  int64_t width;
  std::vector<float> table, start;
  std::vector<int32_t> to;
  std::vector<int64_t> from;
};

KernelOptions with(const std::string& backend, const std::string& schedule = "") {
  KernelOptions options;
  options.backend = test::backend(backend);
  test::set_schedule(options, schedule);
  options.threads = 4;
  return options;
}

TEST(Lookup, EveryBackendAndStrategyGivesTheBitsOfPlainLoops) {
  Runtime runtime;
  for (const int64_t width : {1, 3, 64}) {
    Edges edges(width);
    for (const OobPolicy policy : {OobPolicy::clamp, OobPolicy::wrap, OobPolicy::skip_window, OobPolicy::fill_window}) {
      const Expected<Scatter> op = edges.op(policy);
      ASSERT_TRUE(op.ok()) << op.status().message();
      const std::vector<float> want = edges.expected(policy);
      for (const char* const backend : {"auto", "reference", "portable", "llvm", "halide"})
        for (const char* const schedule :
             {"", "strategy=window", "strategy=owner", "strategy=radix", "strategy=owner,prefetch=8"}) {
          if (std::string(backend) == "halide" && (is_fill(policy) || !has_halide())) continue;
          const auto kernel = runtime.get(Op(*op), with(backend, std::string(backend) == "reference" ? "" : schedule));
          if (!kernel.ok()) {  // a window of one element cannot be cut
            EXPECT_THAT(kernel.status().message(), testing::StartsWith("schedule: strategy window"));
            continue;
          }
          std::vector<float> result = edges.start;
          const Status status = kernel->run(edges.views(result));
          EXPECT_TRUE(status.ok()) << status.message();
          EXPECT_EQ(result, want) << backend << " " << schedule << " " << name(policy) << " " << width;
        }
    }
  }
}

/// result[to[e], w] += table[row[e] + w / 3, column[e] + w % 3] over windows of 2 x 3 elements, of which indices move both dims, beyond the table on
/// all sides. Extra 0 does so in a second table with other indices, and is multiplied.
struct Patches {
  static constexpr int64_t kTargets = 5, kPositions = 300, kRows = 4, kColumns = 7;

  Patches() {
    for (int64_t i = 0; i < kRows * kColumns; ++i) {
      table.push_back(static_cast<float>(i * 13 % 29) - 11.0F);
      factors.push_back(static_cast<float>(i * 7 % 31) - 15.0F);
    }
    for (int64_t e = 0; e < kPositions; ++e) {
      to.push_back(static_cast<int32_t>(e * 2654435761 % kTargets));
      for (auto* const starts : {&of_table, &of_factors}) {
        const int64_t k = starts == &of_table ? e : 3 * e + 1;
        starts->push_back(k % 11 - 4);
        starts->push_back(k / 2 % 15 - 5);
      }
    }
  }

  static std::string op(const std::string& policy, const std::string& second) {
    const auto gather = [](const std::string& oob) {
      return "=gather(operand=f32[4,7] indices=i64[300,2] result=f32[300,2,3] offset_dims=[1,2] start_index_map=[0,1] "
             "index_vector_dim=1 slice_sizes=[2,3] oob=" +
             oob + (oob.starts_with("fill") ? " fill=0.5:f32)" : ")");
    };
    return "strew1.scatter(operand=f32[5,2,3] indices=i32[300] updates=f32[300,2,3] extras=[per_element:f32[300,2,3]] "
           "lookups=[updates(0)" +
           gather(policy) + ",extra(0)" + gather(second) +
           "] update_window_dims=[1,2] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 "
           "combiner=expr "
           "expr={%0=update(0):f32; %1=extra(0):f32; %2=multiply(%0,%1):f32; %3=current(0):f32; %4=add(%3,%2):f32; return %4} "
           "init=in_place)";
  }

  /// The element at these coordinates. Nothing: it is left out.
  static std::optional<float> found(const std::vector<float>& in, int64_t row, int64_t column, const std::string& policy) {
    if (policy == "wrap") {
      row = (row + 4 * kRows) % kRows;
      column = (column + 4 * kColumns) % kColumns;
    }
    if (row >= 0 && row < kRows && column >= 0 && column < kColumns) return in[static_cast<size_t>(row * kColumns + column)];
    return policy == "fill_element" ? std::optional(0.5F) : std::nullopt;
  }

  std::vector<float> expected(const std::string& policy, const std::string& second) const {
    std::vector<float> out(static_cast<size_t>(kTargets * 6), 1.0F);
    for (size_t e = 0; e < to.size(); ++e)
      for (int64_t w = 0; w < 6; ++w) {
        const auto at = [&](const std::vector<int64_t>& starts) {
          return std::pair(starts[2 * e] + w / 3, starts[2 * e + 1] + w % 3);
        };
        const auto [row, column] = at(of_table);
        const auto [second_row, second_column] = at(of_factors);
        const std::optional<float> a = found(table, row, column, policy), b = found(factors, second_row, second_column, second);
        if (a && b) out[static_cast<size_t>(to[e] * 6 + w)] += *a * *b;
      }
    return out;
  }

  std::vector<float> table, factors;
  std::vector<int32_t> to;
  std::vector<int64_t> of_table, of_factors;
};

TEST(Lookup, PoliciesCutTheWindowsOfEachTable) {
  Runtime runtime;
  Patches patches;
  const std::vector<std::string> policies{"skip_element", "fill_element", "wrap"};
  for (const std::string& policy : policies)
    for (const std::string& second : policies) {
      const std::vector<float> want = patches.expected(policy, second);
      for (const char* const backend : {"reference", "portable", "llvm", "halide"})
        for (const char* const schedule : {"", "strategy=window", "strategy=owner"}) {
          const std::string name(backend);
          if (name == "halide" && (policy == "fill_element" || second == "fill_element" || !has_halide())) continue;
          const auto kernel =
              runtime.get(test::op_of(Patches::op(policy, second)), with(name, name == "reference" ? "" : schedule));
          ASSERT_TRUE(kernel.ok()) << kernel.status().message();
          std::vector<float> result(want.size(), 1.0F);
          const Status status = kernel->run(Views()
                                                .add(result.data(), DType::f32, {Patches::kTargets, 2, 3})
                                                .add(patches.to.data(), DType::i32, {Patches::kPositions})
                                                .add(patches.table.data(), DType::f32, {Patches::kRows, Patches::kColumns})
                                                .add(patches.factors.data(), DType::f32, {Patches::kRows, Patches::kColumns})
                                                .add(patches.of_table.data(), DType::i64, {Patches::kPositions, 2})
                                                .add(patches.of_factors.data(), DType::i64, {Patches::kPositions, 2}));
          EXPECT_TRUE(status.ok()) << status.message();
          EXPECT_EQ(result, want) << name << " " << schedule << " " << policy << " " << second;
        }
    }
}

/// More look-ups fill than llvm has code for: result[to[e]] += ((a[i] * b[j]) * c[k]).
TEST(Lookup, PortableTakesAnyNumberThatFill) {
  Runtime runtime;
  std::string lookups, tables;
  for (const std::string of : {"updates(0)", "extra(0)", "extra(1)"})
    lookups +=
        (lookups.empty() ? "" : ",") + of +
        "=gather(operand=f32[3] indices=i64[8] result=f32[8] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 "
        "slice_sizes=[1] oob=fill_element fill=10:f32)";
  const std::string op =
      "strew1.scatter(operand=f32[2] indices=i32[8] updates=f32[8] extras=[per_element:f32[8],per_element:f32[8]] lookups=[" +
      lookups +
      "] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=expr expr={%0=update(0):f32; "
      "%1=extra(0):f32; %2=extra(1):f32; %3=multiply(%0,%1):f32; %4=multiply(%3,%2):f32; %5=current(0):f32; %6=add(%5,%4):f32; "
      "return %6} init=in_place)";
  const std::vector<int32_t> to{0, 1, 0, 1, 0, 1, 0, 1};
  const std::vector<float> a{1, 2, 3}, b{4, 5, 6}, c{7, 8, 9};
  const std::vector<int64_t> i{0, 3, 1, -1, 2, 5, 0, 1}, j{0, 0, 3, 3, 1, 9, -7, 2}, k{2, 1, 0, 4, 4, 4, 1, 0};
  std::vector<float> want(2, 1.0F);
  const auto found = [](const std::vector<float>& in, int64_t at) {
    return at >= 0 && at < 3 ? in[static_cast<size_t>(at)] : 10.0F;
  };
  for (size_t e = 0; e < to.size(); ++e) want[static_cast<size_t>(to[e])] += found(a, i[e]) * found(b, j[e]) * found(c, k[e]);
  EXPECT_FALSE(runtime.get(test::op_of(op), with("llvm")).ok());
  for (const char* const backend : {"reference", "portable", "auto"}) {
    const auto kernel = runtime.get(test::op_of(op), with(backend));
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    std::vector<float> result(2, 1.0F);
    Views views;
    views.add(result.data(), DType::f32, {2}).add(to.data(), DType::i32, {8});
    for (const auto* const table : {&a, &b, &c}) views.add(table->data(), DType::f32, {3});
    for (const auto* const indices : {&i, &j, &k}) views.add(indices->data(), DType::i64, {8});
    EXPECT_TRUE(kernel->run(views).ok());
    EXPECT_EQ(result, want) << backend;
  }
}

TEST(Lookup, ErrorsAreFoundBeforeTheFirstWrite) {
  Runtime runtime;
  Edges edges(8);
  const Expected<Scatter> op = edges.op(OobPolicy::error);
  ASSERT_TRUE(op.ok()) << op.status().message();
  for (const char* const backend : {"reference", "portable", "llvm"}) {
    const auto kernel = runtime.get(Op(*op), with(backend));
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    std::vector<float> result = edges.start;
    BadIndex bad;
    const Status status = kernel->run(edges.views(result), &bad);
    EXPECT_EQ(status.code(), Code::out_of_bounds);
    EXPECT_EQ(status.message(),
              "index out of bounds: look-up of updates 0, position [0] (linear 0), component 0: value -3, expected 0 <= v <= 52");
    EXPECT_EQ(bad.source, 3);
    EXPECT_EQ(bad.position, 0);
    EXPECT_EQ(result, edges.start);
  }
}

TEST(Lookup, CallsAreRefusedWhoseTablesDoNotFit) {
  Runtime runtime;
  const Expected<Scatter> op = scatter_rows(f32({kDynamic, kDynamic}), i32({kDynamic}), f32({kDynamic, kDynamic}))
                                   .look_up(Role::updates, 0, gather_rows(f32({kDynamic, kDynamic}), i64({kDynamic})))
                                   .combine(CombinerKind::add)
                                   .in_place()
                                   .build();
  ASSERT_TRUE(op.ok()) << op.status().message();
  const auto kernel = runtime.get(Op(*op));
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  std::vector<float> result(16), table(64);
  const std::vector<int32_t> to(4);
  const std::vector<int64_t> from(5);
  const auto message = [&](std::vector<int64_t> of_table, int64_t sources) {
    return kernel
        ->run(Views()
                  .add(result.data(), DType::f32, {4, 4})
                  .add(to.data(), DType::i32, {4})
                  .add(table.data(), DType::f32, std::move(of_table))
                  .add(from.data(), DType::i64, {sources}))
        .message();
  };
  EXPECT_EQ(message({5, 4}, 4), "");
  EXPECT_EQ(message({5, 4}, 5), "indices 1: dim 0 is 5, expected 4, dim 0 of indices [lookup_dims]");
  EXPECT_EQ(message({5, 5}, 4), "updates 0: dim 1 is 5, expected at most 4, dim 1 of result 0 [scatter_c4]");
  EXPECT_EQ(kernel
                ->run(Views()
                          .add(result.data(), DType::f32, {4, 4})
                          .add(to.data(), DType::i32, {4})
                          .add(result.data(), DType::f32, {4, 4})
                          .add(from.data(), DType::i64, {4}))
                .message(),
            "result 0 overlaps updates 0: expected disjoint buffers");
}

/// A fixed dim of the result is empty at the call, and so is the table, whose policy fills: there is nothing to write.
TEST(Lookup, NothingIsWrittenIntoAResultWithoutElements) {
  Runtime runtime;
  const std::string op =
      "strew1.scatter(operand=f32[?,8] indices=i32[6,1] updates=f32[6] inserted_window_dims=[0,1] "
      "scatter_dims_to_operand_dims=[1] "
      "index_vector_dim=1 init=in_place lookups=[updates(0)=gather(operand=f32[?] indices=i64[6] result=f32[6] "
      "collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 slice_sizes=[1] oob=fill_window fill=1:f32)])";
  const std::vector<int32_t> to(6);
  const std::vector<int64_t> from(6);
  for (const char* const backend : {"reference", "portable", "llvm"}) {
    const auto kernel = runtime.get(test::op_of(op), with(backend));
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    std::vector<float> result(8, 5.0F);
    const auto run = [&](int64_t rows) {
      return kernel->run(Views()
                             .add(result.data(), DType::f32, {rows, 8})
                             .add(to.data(), DType::i32, {6, 1})
                             .add(result.data() + 8, DType::f32, {0})
                             .add(from.data(), DType::i64, {6}));
    };
    EXPECT_TRUE(run(0).ok());
    EXPECT_EQ(result, std::vector<float>(8, 5.0F)) << backend;
    EXPECT_TRUE(run(1).ok());
    EXPECT_EQ(result[0], 1.0F) << backend;
  }
}

TEST(Lookup, WideSumsRoundOnce) {
  Runtime runtime;
  const std::string op =
      "strew1.scatter(operand=bf16[3,5] indices=i32[40] updates=bf16[40,5] update_window_dims=[1] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place accumulate=wide "
      "lookups=[updates(0)=gather(operand=bf16[7,5] indices=i32[40] result=bf16[40,5] offset_dims=[1] collapsed_slice_dims=[0] "
      "start_index_map=[0] index_vector_dim=1 slice_sizes=[1,5])])";
  std::vector<uint16_t> table(35), start(15);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<uint16_t>(0x3c00 + 37 * i);
  for (size_t i = 0; i < start.size(); ++i) start[i] = static_cast<uint16_t>(0x4000 + 11 * i);
  std::vector<int32_t> to(40), from(40);
  for (size_t e = 0; e < to.size(); ++e) to[e] = static_cast<int32_t>(e * e % 3), from[e] = static_cast<int32_t>(5 * e % 7);
  std::vector<std::vector<uint16_t>> results;
  for (const char* const backend : {"reference", "portable", "llvm"}) {
    const auto kernel = runtime.get(test::op_of(op), with(backend));
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    std::vector<uint16_t>& result = results.emplace_back(start);
    const Status status = kernel->run(Views()
                                          .add(result.data(), DType::bf16, {3, 5})
                                          .add(to.data(), DType::i32, {40})
                                          .add(table.data(), DType::bf16, {7, 5})
                                          .add(from.data(), DType::i32, {40}));
    EXPECT_TRUE(status.ok()) << status.message();
  }
  EXPECT_NE(results[0], start);
  EXPECT_EQ(results[1], results[0]);
  EXPECT_EQ(results[2], results[0]);
}

}  // namespace
}  // namespace strew
