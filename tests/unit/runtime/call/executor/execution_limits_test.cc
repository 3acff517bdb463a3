// Limits and trace of the executor: by default a small call stays on its thread; with the limits of a test it takes its strategy's phases on
// as many threads as the pool has, and its bits stay those of one thread.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/call/executor/limits.h"
#include "runtime/call/executor/phases.h"
#include "runtime/call/executor/thread_pool.h"
#include "strew/runtime.h"
#include "strew/text.h"
#include "tests/support/options.h"

namespace strew {
namespace {

constexpr int64_t kRows = 12, kColumns = 6, kUpdates = 24;

/// Twenty-four rows of six added to twelve, through a runtime of its own.
class SmallCalls : public testing::Test {
 protected:
  std::vector<int32_t> run(const std::string& schedule, const std::string& rest = "init=copy oob=error") {
    const Expected<Op> op = parse_op(
        "strew1.scatter(operand=i32[12,6] indices=i32[24] updates=i32[24,6] update_window_dims=[1] inserted_window_dims=[0] "
        "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add indices_are_sorted=true " +
        rest + ")");
    EXPECT_TRUE(op.ok()) << op.status().message();
    KernelOptions options;
    test::set_schedule(options, schedule);
    const Expected<Kernel> kernel = runtime_.get(*op, options);
    EXPECT_TRUE(kernel.ok()) << kernel.status().message();
    std::vector<int32_t> table(kRows * kColumns, 7), result(kRows * kColumns, -1), indices, updates;
    for (int32_t i = 0; i < kUpdates; ++i) indices.push_back(i / 2);
    for (int32_t i = 0; i < kUpdates * kColumns; ++i) updates.push_back(i * i);
    const int64_t dims[] = {kRows, kColumns}, index_dims[] = {kUpdates}, update_dims[] = {kUpdates, kColumns};
    std::vector<TensorView> views{{result.data(), DType::i32, 2, dims}, {table.data(), DType::i32, 2, dims}};
    views.push_back({indices.data(), DType::i32, 1, index_dims});
    views.push_back({updates.data(), DType::i32, 2, update_dims});
    trace_.clear();
    const Status status = kernel->run(views);
    EXPECT_TRUE(status.ok()) << status.message();
    return result;
  }
  /// Threads that ran a chunk of the last call's phase; 0: there was none.
  int threads(PhaseKind kind) const {
    for (const PhaseTrace::Step& step : trace_.steps())
      if (step.kind == kind) return step.threads;
    return 0;
  }

  PhaseTrace trace_;
  std::shared_ptr<ExecutionLimits> limits_ = std::make_shared<ExecutionLimits>();
  Runtime runtime_{{std::make_shared<ThreadPool>(ThreadPoolOptions{.threads = 5, .waits = true}), limits_}};
};

TEST_F(SmallCalls, StayOnOneThreadByDefault) {
  limits_->trace = &trace_;
  run("strategy=owner,threads=5");
  EXPECT_EQ(threads(PhaseKind::check), 1);
  EXPECT_EQ(threads(PhaseKind::init), 1);
  EXPECT_EQ(threads(PhaseKind::whole), 1);
  EXPECT_EQ(threads(PhaseKind::owner), 0);
}

TEST_F(SmallCalls, TakeTheirStrategyOnAllThreadsWithTheLimitsOfATest) {
  limits_->checked_alone = 0;
  const std::vector<int32_t> expected = run("strategy=sequential,threads=1");
  limits_->trace = &trace_;
  limits_->shares_all = true;
  limits_->line_bytes = limits_->init_unit = limits_->owner_positions = limits_->owner_piece_bytes = 1;
  limits_->owner_block = limits_->owner_queue = 3;
  limits_->radix_block = limits_->radix_least_round = kUpdates;
  limits_->radix_least_block = limits_->radix_sum = 1;
  limits_->radix_blocks_per_thread = 1;
  limits_->private_elements_per_update = 1000;
  using K = PhaseKind;
  for (const auto& [strategy, kind] :
       {std::pair{"window", K::window}, std::pair{"owner", K::owner}, std::pair{"radix", K::radix_count},
        std::pair{"radix", K::radix_add}, std::pair{"radix", K::radix_place}, std::pair{"radix", K::radix_scatter},
        std::pair{"radix", K::radix_apply}, std::pair{"runs", K::runs}, std::pair{"private", K::private_apply},
        std::pair{"private", K::private_merge}}) {
    for (const int most : {2, 3, 5}) {
      limits_->most_threads = most;
      EXPECT_EQ(run("strategy=" + std::string(strategy) + ",threads=5"), expected) << strategy << " " << most;
      EXPECT_EQ(threads(kind), most) << strategy << ", phase " << name(kind);
      EXPECT_EQ(threads(K::check), most) << strategy;
      EXPECT_EQ(threads(K::init), most) << strategy;
    }
  }
}

TEST_F(SmallCalls, FindAHotRowInASampleOfAFewKeys) {
  const std::string rest = "init=copy oob=clamp";
  const std::vector<int32_t> expected = run("strategy=sequential,threads=1", rest);
  limits_->trace = &trace_;
  limits_->shares_all = true;
  limits_->line_bytes = limits_->owner_positions = 1;
  limits_->hot_spots = 2;
  limits_->hot_each = 1;
  limits_->hot_lines = 1;
  limits_->owner_piece_bytes = 4096;  // larger than the result: one owner has everything
  EXPECT_EQ(run("strategy=owner,threads=3", rest), expected);
  EXPECT_EQ(threads(PhaseKind::columns), 3);
}

TEST(ExecutionLimits, NullSettingsAreTheDefaults) {
  Runtime runtime{ExecutionSettings{nullptr, nullptr}};
  const Expected<Op> op = parse_op(
      "strew1.gather(operand=i32[4] indices=i32[2] result=i32[2] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 "
      "slice_sizes=[1] oob=clamp)");
  const Expected<Kernel> kernel = runtime.get(*op);
  ASSERT_TRUE(kernel.ok());
  std::vector<int32_t> table{1, 2, 3, 4}, indices{3, 9}, result{0, 0};
  const int64_t four[] = {4}, two[] = {2};
  const TensorView views[] = {
      {result.data(), DType::i32, 1, two}, {table.data(), DType::i32, 1, four}, {indices.data(), DType::i32, 1, two}};
  EXPECT_TRUE(kernel->run(views).ok());
  EXPECT_EQ(result, (std::vector<int32_t>{4, 4}));
}

}  // namespace
}  // namespace strew
