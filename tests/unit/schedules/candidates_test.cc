// Candidates: all are legal, all are different, every knob's values have reasons, and what is not legal says why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "schedules/schedule.h"
#include "tests/support/ops.h"

namespace strew {
namespace {

using testing::HasSubstr;

const std::string kDims =
    " update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 init=in_place";
std::string rows(const std::string& width, const std::string& count, const std::string& rest = "") {
  return "strew1.scatter(operand=f32[100000," + width + "] indices=i32[" + count + "] updates=f32[" + count + "," + width + "]" +
         kDims + rest + ")";
}
Plan plan_of(const std::string& text) { return *test::plan_of(test::op_of(text)); }

const std::vector<std::string> kOps = {
    rows("64", "1000"),
    rows("64", "1000", " combiner=add"),
    rows("64", "1000", " unique_indices=true"),
    rows("3", "?"),
    "strew1.scatter(operand=u4[1000] indices=i32[10] updates=u4[10] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
    "index_vector_dim=1 init=in_place)",
    "strew1.gather(operand=bf16[1000,64] indices=i32[512] result=bf16[512,64] offset_dims=[1] collapsed_slice_dims=[0] "
    "start_index_map=[0] index_vector_dim=1 slice_sizes=[1,64])"};

TEST(Candidates, AreLegalAndDifferent) {
  for (const std::string& text : kOps) {
    const Plan plan = plan_of(text);
    for (const char* cpu : {"x86-64", "haswell", "znver5", "neoverse-n1"}) {
      const Target target = *parse_target(cpu);
      const std::vector<Schedule> all = candidates(schedule_choices(plan, target));
      ASSERT_FALSE(all.empty());
      for (size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(check_schedule(all[i], plan, target).message(), "") << print(all[i]);
        for (size_t j = 0; j < i; ++j) EXPECT_NE(all[i], all[j]) << print(all[i]);
      }
      for (const int threads : {1, 2, 64}) {
        Schedule chosen = choose_schedule(plan, target, threads);
        EXPECT_EQ(check_schedule(chosen, plan, target).message(), "") << print(chosen);
        chosen.adapts = false;
        EXPECT_THAT(default_candidates(plan, target, threads), testing::Contains(chosen));
      }
    }
  }
}

TEST(Candidates, HaveReasons) {
  for (const std::string& text : kOps) {
    const ScheduleChoices c = schedule_choices(plan_of(text), *parse_target("znver5"));
    EXPECT_EQ(c.strategy.size(), std::size(kStrategies));
    for (const auto* values : {&c.strategy, &c.vector_bytes, &c.unroll, &c.prefetch, &c.nontemporal, &c.tables, &c.scratch_mib}) {
      EXPECT_FALSE(values->empty());
      EXPECT_TRUE(values->front().legal.ok()) << "the simplest value is always legal";
      for (const KnobChoice& choice : *values) {
        EXPECT_FALSE(choice.why.empty());
        EXPECT_EQ(choice.legal.ok(), choice.legal.message().empty());
      }
    }
  }
}

std::string streaming_refusal(const std::string& text) {
  return schedule_choices(plan_of(text), *parse_target("znver5")).nontemporal.at(1).legal.message();
}

TEST(Candidates, StreamOnlyWholeLinesOfKnownNumber) {
  EXPECT_EQ(streaming_refusal(rows("64", "1000")), "");
  EXPECT_THAT(streaming_refusal(rows("64", "1000", " combiner=add")), HasSubstr("this op computes"));
  EXPECT_THAT(streaming_refusal(rows("65", "1000")), HasSubstr("not known to be whole cache lines"));
  EXPECT_THAT(streaming_refusal(rows("64", "?")), HasSubstr("only the call knows"));
}

TEST(Candidates, OfScratchAreForStrategiesThatTakeSome) {
  const auto choices = [](const std::string& text) { return schedule_choices(plan_of(text), *parse_target("znver5")); };
  const auto sum = [](const std::string& dtype, const std::string& rest = "") {
    return "strew1.scatter(operand=" + dtype + "[1000] indices=i32[100000] updates=" + dtype +
           "[100000] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place" +
           rest + ")";
  };
  EXPECT_TRUE(choices(sum("i32")).tables.back().legal.ok());
  EXPECT_THAT(choices(sum("f32", " order=relaxed")).tables.back().legal.message(), HasSubstr("another number gives other bits"));
  EXPECT_THAT(choices(sum("f32")).tables.back().legal.message(), HasSubstr("strategy private"));
  EXPECT_TRUE(choices(sum("f32")).scratch_mib.back().legal.ok()) << "what radix partitions";
  EXPECT_THAT(choices(kOps.back()).scratch_mib.back().legal.message(), HasSubstr("no strategy that is legal here"));
}

/// With one thread every strategy is the same loop, except where private tables decide the bits of a sum.
TEST(Candidates, OfOneThreadHaveOneStrategy) {
  const auto strategies = [](const std::string& text, int threads) {
    std::vector<Strategy> found;
    const Plan plan = plan_of(text);
    for (const Schedule& s : default_candidates(plan, *parse_target("znver5"), threads))
      if (std::find(found.begin(), found.end(), s.strategy) == found.end()) found.push_back(s.strategy);
    return found;
  };
  EXPECT_THAT(strategies(rows("64", "1000", " combiner=add"), 1), testing::ElementsAre(Strategy::sequential));
  EXPECT_THAT(strategies(rows("64", "1000", " combiner=add"), 2), testing::Contains(Strategy::owner));
  const std::string histogram =
      "strew1.scatter(operand=f32[1000] indices=i32[100000] updates=f32[100000] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place order=relaxed)";
  for (const int threads : {1, 2, 16})
    EXPECT_THAT(strategies(histogram, threads), testing::ElementsAre(Strategy::private_tables));
}

}  // namespace
}  // namespace strew
