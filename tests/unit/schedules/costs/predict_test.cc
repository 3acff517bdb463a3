// The cost model: workloads have the plan's numbers, and predictions change as the machine's numbers and the sizes do. How near they are
// to measured times is for `./dev bench costs`.
#include "schedules/costs/predict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "base/machine_costs.h"
#include "base/strategy_shares.h"
#include "schedules/schedule.h"
#include "schedules/strategies/strategy.h"
#include "schedules/target.h"
#include "tests/support/ops.h"

namespace strew {
namespace {

const std::string kDims =
    " update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 init=in_place";
std::string rows(int64_t table, const std::string& count, int width = 64, const std::string& rest = " combiner=add") {
  const std::string w = std::to_string(width);
  return "strew1.scatter(operand=f32[" + std::to_string(table) + "," + w + "] indices=i32[" + count + "] updates=f32[" + count +
         "," + w + "]" + kDims + rest + ")";
}
Plan plan_of(const std::string& text) { return *test::plan_of(test::op_of(text)); }

TEST(Workload, HasTheNumbersOfThePlan) {
  const Workload w = workload_of(plan_of(rows(1000, "50")));
  EXPECT_EQ(w.positions, 50);
  EXPECT_EQ(w.components, 1);
  EXPECT_EQ(w.runs, 1);
  EXPECT_EQ(w.run_bytes, 256);
  EXPECT_EQ(w.window_bytes, 256);
  EXPECT_EQ(w.lines, 4);
  EXPECT_EQ(w.table_bytes, 256'000);
  EXPECT_EQ(w.moved_bytes, 50 * 256);
  EXPECT_EQ(w.in_order, 0);
  EXPECT_TRUE(w.reads_table);
  EXPECT_FALSE(w.gathers || w.is_element || w.is_open || w.moves);
  EXPECT_TRUE(w.has_lanes);
  EXPECT_EQ(w.init_bytes, 0);
}

TEST(Workload, SeesWhatTheOpIs) {
  EXPECT_FALSE(workload_of(plan_of(rows(1000, "50", 64, ""))).reads_table);
  EXPECT_TRUE(workload_of(plan_of(rows(1000, "?"))).is_open);
  EXPECT_EQ(workload_of(plan_of(rows(1000, "?"))).positions, kOpenExtent);
  // Rows of 20 bytes: some lie in one line, some in two.
  EXPECT_NEAR(workload_of(plan_of(rows(1000, "50", 5))).lines, 1.25, 0.3);
  // Sorted: the denser the rows, the more of them follow the row before.
  EXPECT_NEAR(workload_of(plan_of(rows(1000, "10", 64, " combiner=add indices_are_sorted=true"))).in_order, 0.01, 1e-9);
  EXPECT_EQ(workload_of(plan_of(rows(1000, "5000", 64, " combiner=add indices_are_sorted=true"))).in_order, 1);
  const Workload copied =
      workload_of(plan_of("strew1.scatter(operand=f32[100,8] indices=i32[3] updates=f32[3,8] update_window_dims=[1] "
                          "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1)"));
  EXPECT_EQ(copied.init_bytes, 3200);
}

class Predictions : public testing::Test {
 protected:
  Target target_ = *parse_target("znver4");

  Prediction of(const std::string& op, const std::string& schedule = "", int threads = 1) const {
    const Plan plan = plan_of(op);
    const Workload work = workload_of(plan);
    Schedule base;
    base.vector_bytes = target_.vector_bytes;
    return predict({work, *parse_schedule(schedule, base), target_, threads});
  }
  double total(const std::string& op, const std::string& schedule = "", int threads = 1) const {
    return of(op, schedule, threads).total();
  }
};

TEST_F(Predictions, AreFiniteAndPositiveForEveryCandidate) {
  for (const std::string& op :
       {rows(10, "1"), rows(10, "0"), rows(1'000'000, "100000", 64, ""), rows(1000, "?", 3), rows(100, "100000", 1)}) {
    const Plan plan = plan_of(op);
    const Workload work = workload_of(plan);
    for (const char* cpu : {"x86-64", "znver5", "cortex-a53"}) {
      Target target = *parse_target(cpu);
      for (const int threads : {1, 2, 1024}) {
        for (const Schedule& schedule : candidates(schedule_choices(plan, target))) {
          const Prediction p = predict({work, schedule, target, threads});
          EXPECT_TRUE(std::isfinite(p.total()) && p.total() > 0) << op << " " << print(schedule) << " " << p.total();
          for (const double term : p.nanoseconds) EXPECT_GE(term, 0) << op << " " << print(schedule);
        }
      }
    }
  }
}

TEST_F(Predictions, AreMadeForMachinesWhoseTimesAreZeroOrHuge) {
  const std::string op = rows(1'000'000, "100000");
  const Plan plan = plan_of(op);
  const Workload work = workload_of(plan);
  const MachineCosts costs = target_.costs;
  for (const NamedCost& cost : named_costs(costs)) {
    for (const float value : {0.0F, 1e-30F, 1e-3F, std::numeric_limits<float>::max()}) {
      target_.costs = costs;
      for_each_cost(target_.costs, [&](const std::string& name, float& at) { at = name == cost.name ? value : at; });
      ASSERT_TRUE(check(target_).ok());
      for (const Schedule& schedule : candidates(schedule_choices(plan, target_)))
        EXPECT_GE(predict({work, schedule, target_, 2}).total(), 0) << cost.name << " " << value << " " << print(schedule);
    }
  }
}

TEST_F(Predictions, GrowWithTheWork) {
  EXPECT_LT(total(rows(1000, "100")), total(rows(1000, "1000")));
  EXPECT_LT(total(rows(1000, "100")), total(rows(1'000'000, "100")));  // a table beyond the caches
  EXPECT_LT(total(rows(1000, "100", 16)), total(rows(1000, "100", 64)));
  EXPECT_LT(total(rows(1000, "100", 64, "")), total(rows(1000, "100")));
}

TEST_F(Predictions, KnowWhatPrefetchingAndStreamingAreFor) {
  const std::string cold = rows(1'000'000, "100000"), cached = rows(100, "100000", 64, ""),
                    moved = rows(1'000'000, "100000", 64, "");
  EXPECT_LT(total(cold, "prefetch=16"), total(cold));
  EXPECT_GT(total(cached, "prefetch=16"), total(cached));
  EXPECT_LT(total(rows(10'000, "100000", 16), "prefetch=16"), total(rows(10'000, "100000", 16)));  // updates in a cache
  EXPECT_EQ(of(rows(1'000'000, "10"), "prefetch=64")[CostTerm::table], of(rows(1'000'000, "10"))[CostTerm::table]);
  EXPECT_LT(total(moved, "nontemporal=true"), total(moved));
  EXPECT_GT(total(cached, "nontemporal=true"), total(cached));
}

TEST_F(Predictions, ShareWorkAmongThreads) {
  target_.cores = 8;
  const std::string cold = rows(1'000'000, "100000");
  EXPECT_LT(total(cold, "strategy=owner", 8), total(cold));
  EXPECT_LT(total(cold, "strategy=window", 2), total(cold));
  EXPECT_EQ(total(rows(1000, "10"), "strategy=owner", 8),
            total(rows(1000, "10")));  // the executor runs so small a call on one thread
  EXPECT_GT(of(cold, "strategy=radix", 8)[CostTerm::threads], of(cold, "strategy=owner", 8)[CostTerm::threads]);
  // All threads read all keys; with partitions each reads its part.
  EXPECT_GT(of(cold, "strategy=owner", 8)[CostTerm::keys], of(cold, "strategy=radix", 8)[CostTerm::keys]);
  // A table of one piece has one owner, who does all the work.
  EXPECT_GE(of(rows(16, "100000"), "strategy=owner", 8)[CostTerm::windows], of(rows(16, "100000"))[CostTerm::windows]);
}

/// The rest of a row is one vector with masks, halves and quarters without, and overlaps the vector before if it is copied.
TEST_F(Predictions, CountTheVectorsOfTheRestOfARow) {
  const auto windows = [&](int width, const std::string& rest = " combiner=add") {
    return of(rows(1000, "100", width, rest))[CostTerm::windows];
  };
  EXPECT_EQ(windows(16 + 9), windows(16 + 15)) << "a masked vector costs the same however many lanes hold";
  EXPECT_LT(windows(16 + 8), windows(16 + 9)) << "a vector of half the width needs no mask, and is narrower";
  EXPECT_EQ(windows(16 + 1, ""), windows(32, "")) << "a copy writes whole vectors, of which the last two overlap";
  EXPECT_LT(windows(4, ""), windows(5, "")) << "two vectors of 16 bytes instead of one";
  const double masked = windows(16 + 15);
  target_ = *parse_target("znver4-avx512vl-avx512bw");
  EXPECT_EQ(target_.vector_bytes, 32);
  EXPECT_LT(windows(8 + 4), windows(8 + 5));
  EXPECT_LT(windows(8 + 5), windows(8 + 7)) << "a quarter and an eighth against a half, a quarter and an eighth";
  EXPECT_GT(windows(16 + 15), masked);
}

TEST_F(Predictions, SayTheirLargestTerms) {
  const std::string text = print(of(rows(1'000'000, "100000")));
  EXPECT_THAT(text, testing::MatchesRegex("about [0-9.e+]+ [mun]s: lines of the table [0-9.e+]+ [mun]s, .*"));
  Prediction p;
  p[CostTerm::keys] = 2500;
  p[CostTerm::call] = 20;
  EXPECT_EQ(print(p), "about 2.52 us: destinations of positions 2.5 us, call 20 ns");
}

/// The sizes of some call: four threads, and otherwise the same number of everything.
struct SomeSizes {
  double units = 1, table = 0;
  double threads() const { return 4; }
  double slabs() const { return units; }
  double positions() const { return units; }
  double columns() const { return units; }
  bool columns_are_positions() const { return false; }
  double coordinates() const { return units; }
  double table_bytes() const { return table; }
  double piece_bytes() const { return 4096; }
  double tables() const { return units; }
};

TEST(StrategyShares, HaveWholeUnitsAndNoMoreThreadsThanUnits) {
  for (const auto& [units, threads, part] : {std::tuple{1.0, 1.0, 1.0},
                                             {3.0, 3.0, 1.0 / 3},
                                             {4.0, 4.0, 0.25},
                                             {5.0, 4.0, 0.4},
                                             {6.0, 4.0, 1.0 / 3},
                                             {1e15, 4.0, 0.25}}) {
    const SomeSizes sizes{units};
    const StrategyShares shares(sizes);
    for (const ThreadShare& share : {shares.positions(), shares.window(), shares.runs(), shares.clip()}) {
      EXPECT_EQ(share.threads, threads) << units;
      EXPECT_DOUBLE_EQ(share.part, part) << units;
      EXPECT_EQ(share.of_positions() * share.of_window(), share.part) << units;
    }
  }
}

TEST(StrategyShares, FollowThePiecesOfTheTableAndTheTables) {
  for (const auto& [table, part] : {std::pair{0.0, 1.0}, {4096.0, 1.0}, {8192.0, 0.5}, {16384.0, 0.25}, {1e18, 0.25}}) {
    const SomeSizes sizes{1, table};
    const StrategyShares shares(sizes);
    EXPECT_EQ(shares.owner().part, part) << table;
    EXPECT_EQ(shares.owner().keys, 1 + part) << "every thread computes all keys, and takes its own from a queue";
    EXPECT_EQ(shares.radix().part, part) << table;
    EXPECT_EQ(shares.radix().keys, 2) << "each computes those of its positions, whoever owns them";
  }
  const SomeSizes two{2}, eight{8};
  EXPECT_EQ(StrategyShares(two).private_tables().part, 0.5);
  EXPECT_EQ(StrategyShares(two).private_tables().phases, 2);
  EXPECT_EQ(StrategyShares(eight).private_tables().tables, 2) << "in two waves";
  EXPECT_EQ(StrategyShares(eight).private_tables().phases, 4);
}

/// Positions of one batch may have the same destinations, so that one thread visits them all.
TEST_F(Predictions, DoNotCutABatch) {
  const auto batches = [](const std::string& count) {
    return "strew1.scatter(operand=f32[" + count + ",1000] indices=i32[" + count + ",4000] updates=f32[" + count +
           ",4000] inserted_window_dims=[1] input_batching_dims=[0] scatter_indices_batching_dims=[0] "
           "scatter_dims_to_operand_dims=[1] "
           "index_vector_dim=2 combiner=add init=in_place)";
  };
  EXPECT_EQ(of(batches("1"), "strategy=positions", 8)[CostTerm::windows], of(batches("1"))[CostTerm::windows]);
  EXPECT_DOUBLE_EQ(of(batches("80"), "strategy=positions", 8)[CostTerm::windows] * 8, of(batches("80"))[CostTerm::windows]);
}

/// Whether a relaxed sum uses tables decides its bits, so that only op and shapes may decide it.
TEST(RelaxedSums, UseTablesByShapesAlone) {
  const auto uses = [](int64_t table, const std::string& count) {
    return relaxed_sum_uses_tables(plan_of(rows(table, count, 1, " combiner=add order=relaxed")));
  };
  EXPECT_TRUE(uses(1000, "3000"));
  EXPECT_FALSE(uses(1000, "2999"));
  EXPECT_FALSE(uses(10, "2047"));
  EXPECT_TRUE(uses(131'072, "400000"));
  EXPECT_FALSE(uses(131'073, "400000"));
  EXPECT_FALSE(uses(1000, "?"));
}

}  // namespace
}  // namespace strew
