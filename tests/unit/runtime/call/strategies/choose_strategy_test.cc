// A kernel whose schedule adapts takes the strategy that suits the shapes of each call, and the bits stay those of one thread. CallCosts, by
// which it decides, grow with the work and with the distance of the memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/call/executor/limits.h"
#include "runtime/call/executor/phases.h"
#include "runtime/call/executor/thread_pool.h"
#include "schedules/schedule.h"
#include "strew/runtime.h"
#include "strew/text.h"
#include "tests/support/options.h"

namespace strew {
namespace {

using K = PhaseKind;

TEST(CallCosts, GrowWithTheWorkAndTheDistanceOfMemory) {
  const CallCosts costs;
  EXPECT_EQ(costs.level_of(EstimatedBytes(1)), 0U);
  EXPECT_EQ(costs.level_of(estimated(Bytes(costs.cache_bytes[0]))), 0U);
  EXPECT_EQ(costs.level_of(estimated(Bytes(costs.cache_bytes[0] + 1))), 1U);
  EXPECT_EQ(costs.level_of(estimated(Bytes(costs.cache_bytes[2] + 1))), 3U);
  constexpr Bytes kNear(1 << 10), kFar(int64_t{1} << 40);
  EXPECT_EQ(costs.of_windows(0, EstimatedBytes(64), kFar), 0);
  for (const int64_t positions : {1, 10, 100000})
    for (const EstimatedBytes window : {EstimatedBytes(4), EstimatedBytes(64), EstimatedBytes(4096)})
      for (const Bytes table : {kNear, Bytes(1 << 20), kFar}) {
        EXPECT_LT(costs.of_windows(positions, window, table), costs.of_windows(positions + 1, window, table));
        EXPECT_LT(costs.of_windows(positions, window, table), costs.of_windows(positions, window * 2, table));
        EXPECT_LE(costs.of_windows(positions, window, table), costs.of_windows(positions, window, table * 1024));
      }
  EXPECT_LT(costs.of_windows(100000, EstimatedBytes(4096), kNear), costs.of_windows(100000, EstimatedBytes(4096), kFar));
  EXPECT_EQ(costs.of_windows(10, EstimatedBytes(64), Bytes(1 << 20)), costs.of_windows(10, EstimatedBytes(64), kFar))
      << "what few calls touch is in a cache";
  EXPECT_LT(costs.of_bytes(kNear), costs.of_bytes(Bytes(1 << 20)));
}

TEST(CallCosts, AreThoseOfTheMachine) {
  MachineCosts machine;
  machine.position_ns = 2;
  machine.fork_join_ns = 200;
  machine.last_level_share = 0.5;
  machine.memory[3].read_line_ns = 7;
  machine.memory[3].update_line_ns = 5;
  machine.memory[3].stream_ns = 1;
  const CallCosts costs = call_costs(machine, {1000, 2000, 3000});
  EXPECT_EQ(costs.position_ns, 2);
  EXPECT_EQ(costs.line_ns[3], 7);
  EXPECT_EQ(costs.stream_ns[3], 1);
  EXPECT_EQ(costs.cache_bytes[2], 1500);
  EXPECT_EQ(costs.thread_time(), 2 * call_costs({.fork_join_ns = 100}, {1, 2, 3}).thread_time());
}

/// Targets and costs files may say 0 and 1e9; work is divided by the time of a thread.
TEST(CallCosts, AreWithinWhatIntegersHold) {
  constexpr float kMost = std::numeric_limits<float>::max();
  for (const float phase : {0.0F, 1e-3F, kMost}) {
    const CallCosts costs = call_costs({.last_level_share = kMost, .fork_join_ns = phase}, {1, 2, int64_t{1} << 40});
    EXPECT_GE(costs.thread_time(), Nanoseconds(1)) << phase;
    EXPECT_LE(costs.thread_time(), std::chrono::minutes(10)) << phase;
    EXPECT_EQ(costs.cache_bytes[2], int64_t{1} << 53);
  }
}

/// Integers are added to a table, or rows are written into caches, with extents that only the call knows.
class Adapting : public testing::Test {
 protected:
  Kernel get(const std::string& op, const std::string& schedule = "threads=4") {
    KernelOptions options;
    test::set_schedule(options, schedule);
    Expected<Kernel> kernel = runtime_.get(*parse_op(op), options);
    EXPECT_TRUE(kernel.ok()) << kernel.status().message();
    return *kernel;
  }
  /// The phases of a call of `kernel`, of which the last applied the updates.
  std::vector<K> phases(const Kernel& kernel, const std::vector<TensorView>& views) {
    limits_->trace = &trace_;
    trace_.clear();
    const Status status = kernel.run(views);
    EXPECT_TRUE(status.ok()) << status.message();
    limits_->trace = nullptr;
    std::vector<K> kinds;
    for (const PhaseTrace::Step& step : trace_.steps()) kinds.push_back(step.kind);
    return kinds;
  }
  /// Adds i to places that i * 7919 is congruent to, `updates` times; compares with one thread.
  std::vector<K> count_into(const Kernel& kernel, const Kernel& alone, int64_t table, int64_t updates) {
    std::vector<int32_t> result(static_cast<size_t>(table), 3), expected = result, indices(static_cast<size_t>(updates)),
                                                                values(indices.size());
    for (size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<int32_t>(i * 7919 % result.size());
    std::iota(values.begin(), values.end(), 0);
    const auto views = [&](std::vector<int32_t>& to) {
      return std::vector<TensorView>{{to.data(), DType::i32, 1, &table},
                                     {indices.data(), DType::i32, 1, &updates},
                                     {values.data(), DType::i32, 1, &updates}};
    };
    const std::vector<K> kinds = phases(kernel, views(result));
    EXPECT_TRUE(alone.run(views(expected)).ok());
    EXPECT_EQ(result, expected);
    return kinds;
  }

  PhaseTrace trace_;
  std::shared_ptr<ExecutionLimits> limits_ = std::make_shared<ExecutionLimits>();
  Runtime runtime_{{std::make_shared<ThreadPool>(ThreadPoolOptions{.threads = 4, .waits = true}), limits_}};
};

const std::string kCounts =
    "strew1.scatter(operand=i32[?] indices=i32[?] updates=i32[?] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
    "index_vector_dim=1 combiner=add init=in_place oob=clamp)";

TEST_F(Adapting, ManyUpdatesOfASmallTableTakePrivateTables) {
  const Kernel kernel = get(kCounts), alone = get(kCounts, "strategy=sequential,threads=1");
  ASSERT_TRUE(kernel.schedule().adapts) << print(kernel.schedule());
  EXPECT_THAT(count_into(kernel, alone, 64, 200000), testing::ElementsAre(K::private_apply, K::private_merge));
  EXPECT_THAT(count_into(kernel, alone, 1 << 20, 200000), testing::Not(testing::Contains(K::private_apply)));
  EXPECT_THAT(count_into(kernel, alone, 1 << 20, 200000), testing::Contains(testing::AnyOf(K::owner, K::radix_apply)));
  EXPECT_THAT(count_into(kernel, alone, 64, 100), testing::IsEmpty()) << "a small call has no phases";
}

TEST_F(Adapting, AStrategyThatIsAskedForIsTaken) {
  const Kernel kernel = get(kCounts, "strategy=owner,threads=4"), alone = get(kCounts, "strategy=sequential,threads=1");
  EXPECT_FALSE(kernel.schedule().adapts);
  EXPECT_THAT(count_into(kernel, alone, 64, 200000), testing::ElementsAre(K::owner));
  const Kernel both = get(kCounts, "strategy=owner,adapts=true,threads=4");
  EXPECT_THAT(count_into(both, alone, 64, 200000), testing::ElementsAre(K::private_apply, K::private_merge));
}

TEST_F(Adapting, LimitsOfATestChooseAmongTheStrategiesOfTheKernel) {
  const Kernel kernel = get(kCounts), alone = get(kCounts, "strategy=sequential,threads=1");
  for (const auto& [strategy, kind] : {std::pair{STREW_STRATEGY_owner, K::owner}, std::pair{STREW_STRATEGY_radix, K::radix_apply},
                                       std::pair{STREW_STRATEGY_private_tables, K::private_apply}}) {
    limits_->strategy = strategy;
    EXPECT_THAT(count_into(kernel, alone, 5000, 200000), testing::Contains(kind)) << strategy;
  }
  limits_->strategy = STREW_STRATEGY_window;  // is not among them
  EXPECT_THAT(count_into(kernel, alone, 5000, 200000), testing::Contains(K::owner));
}

TEST_F(Adapting, OneWindowIsSharedOutAndManyPositionsAre) {
  const Kernel kernel =
      get("strew1.scatter(operand=i32[?,8,2048,64] indices=i64[?] updates=i32[?,8,1024,64] update_window_dims=[1,2,3] "
          "input_batching_dims=[0] scatter_indices_batching_dims=[0] scatter_dims_to_operand_dims=[2] index_vector_dim=1 "
          "init=in_place "
          "oob=clamp)");
  ASSERT_TRUE(kernel.schedule().adapts) << print(kernel.schedule());
  for (const auto& [batch, kind] : {std::pair{int64_t{1}, K::window}, std::pair{int64_t{16}, K::positions}}) {
    const int64_t cache_dims[] = {batch, 8, 2048, 64}, update_dims[] = {batch, 8, 1024, 64};
    std::vector<int32_t> cache(static_cast<size_t>(batch * 8 * 2048 * 64), -1), updates(cache.size() / 2);
    std::iota(updates.begin(), updates.end(), 0);
    std::vector<int64_t> starts(static_cast<size_t>(batch), 100);
    const std::vector<TensorView> views{{cache.data(), DType::i32, 4, cache_dims},
                                        {starts.data(), DType::i64, 1, &batch},
                                        {updates.data(), DType::i32, 4, update_dims}};
    EXPECT_THAT(phases(kernel, views), testing::ElementsAre(kind)) << batch;
    for (const size_t head : {size_t{0}, cache.size() / (2048 * 64) - 1}) {
      EXPECT_EQ(cache[(head * 2048 + 99) * 64], -1);
      EXPECT_TRUE(std::equal(updates.begin() + static_cast<std::ptrdiff_t>(head * 1024 * 64),
                             updates.begin() + static_cast<std::ptrdiff_t>((head + 1) * 1024 * 64),
                             cache.begin() + static_cast<std::ptrdiff_t>((head * 2048 + 100) * 64)));
    }
  }
}

}  // namespace
}  // namespace strew
