// Strategy radix in whole calls: every key is made once whatever the number of threads, and the bits are one thread's, for hot destinations,
// several rounds and little scratch.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "runtime/call/callable.h"
#include "runtime/call/executor/phases.h"
#include "strew/runtime.h"
#include "tests/support/ops.h"
#include "tests/support/options.h"
#include "tests/support/schedules.h"

namespace strew {
namespace {

constexpr int64_t kRows = 3000, kUpdates = 60000;

strew_entry real_keys = nullptr;
std::atomic<int64_t> keys_made{0};

/// The kernel's keys entry, counted.
int32_t counted_keys(const strew_args* args, int64_t begin, int64_t end, strew_fault* fault) {
  keys_made += end - begin;
  return real_keys(args, begin, end, fault);
}

class Radix : public testing::Test {
 protected:
  Radix() {
    uint32_t state = 12345;
    const auto next = [&] { return (state = state * 1664525U + 1013904223U) >> 8; };
    for (float& v : updates_) v = static_cast<float>(next()) * 1e-6F;
    for (int32_t& i : indices_) i = static_cast<int32_t>(next() % (kRows + 100)) - 50;
  }

  /// Sums of inexact floats, in order, by a kernel of that schedule on `threads` threads that all come. keys_made is its count of keys.
  std::vector<float> sums(const std::string& schedule, int threads) {
    KernelOptions options;
    test::set_schedule(options, schedule);
    const auto kernel = runtime_.get(
        test::op_of("strew1.scatter(operand=f32[3000] indices=i32[60000] updates=f32[60000] inserted_window_dims=[0] "
                    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place oob=skip_element)"),
        options);
    EXPECT_TRUE(kernel.ok()) << kernel.status().message();
    if (!kernel.ok()) return {};
    strew_kernel descriptor = kernel->descriptor();
    real_keys = descriptor.entries[STREW_ENTRY_keys];
    if (real_keys != nullptr) descriptor.entries[STREW_ENTRY_keys] = counted_keys;
    keys_made = 0;
    auto limits = std::make_shared<ExecutionLimits>(limits_);
    trace_.clear();
    limits->trace = &trace_;
    limits->shares_all = true;
    const auto executor = std::make_shared<ThreadPool>(ThreadPoolOptions{.threads = threads, .waits = true});
    const auto callable = Callable::make(descriptor, executor, threads, limits);
    EXPECT_TRUE(callable.ok()) << callable.status().message();
    if (!callable.ok()) return {};
    std::vector<float> table(kRows, 0.1F);
    const int64_t rows[] = {kRows}, updates[] = {kUpdates};
    const TensorView views[] = {{table.data(), DType::f32, 1, rows},
                                {indices_.data(), DType::i32, 1, updates},
                                {updates_.data(), DType::f32, 1, updates}};
    const Status status = (*callable)->run(views);
    EXPECT_TRUE(status.ok()) << status.message();
    return table;
  }
  int steps(PhaseKind kind) const {
    return static_cast<int>(
        std::count_if(trace_.steps().begin(), trace_.steps().end(), [&](const auto& s) { return s.kind == kind; }));
  }

  Runtime runtime_;
  ExecutionLimits limits_;
  PhaseTrace trace_;
  std::vector<int32_t> indices_ = std::vector<int32_t>(kUpdates);
  std::vector<float> updates_ = std::vector<float>(kUpdates);
};

TEST_F(Radix, MakesEachKeyOnceOnAnyNumberOfThreads) {
  const std::vector<float> expected = sums("strategy=sequential", 1);
  for (const int threads : {2, 8, 32}) {
    EXPECT_EQ(sums("strategy=radix,threads=32", threads), expected) << threads;
    EXPECT_EQ(keys_made, kUpdates) << threads << " threads";
    ASSERT_GE(steps(PhaseKind::radix_apply), 1);
    EXPECT_EQ(trace_.steps().back().kind, PhaseKind::radix_apply);
    EXPECT_EQ(trace_.steps().back().threads, threads);
    // The scan of strategy owner makes all of them on each thread: the count does count. With two threads it looks for hot rows first.
    const int64_t sample = threads == 2 ? limits_.hot_spots * limits_.hot_each : 0;
    EXPECT_EQ(sums("strategy=owner,threads=32", threads), expected) << threads;
    EXPECT_EQ(keys_made, threads * kUpdates + sample) << threads << " threads";
  }
}

TEST_F(Radix, SameBitsInSeveralRounds) {
  const std::vector<float> expected = sums("strategy=sequential", 1);
  limits_.radix_least_round = 1;
  limits_.radix_scratch_percent = 1;
  EXPECT_EQ(sums("strategy=radix,threads=8", 8), expected);
  EXPECT_GE(steps(PhaseKind::radix_apply), 60000 * 12 / (732000 / 100));
  EXPECT_EQ(keys_made, kUpdates);
  limits_ = {};
  limits_.radix_least_round = int64_t{1} << 20;
  EXPECT_EQ(sums("strategy=radix,threads=8,scratch_mib=1", 8), expected);
  EXPECT_EQ(steps(PhaseKind::radix_apply), 1);
}

TEST_F(Radix, SameBitsWhereOneDestinationIsHotOrAllAreDropped) {
  for (size_t i = 0; i < indices_.size(); ++i)
    if (i % 20 != 0) indices_[i] = 1234;
  const std::vector<float> expected = sums("strategy=sequential", 1);
  for (const int threads : {2, 8, 32}) EXPECT_EQ(sums("strategy=radix,threads=32", threads), expected) << threads;
  indices_.assign(indices_.size(), -1);
  EXPECT_EQ(sums("strategy=radix,threads=32", 8), std::vector<float>(kRows, 0.1F));
}

TEST_F(Radix, SmallCallsStayOnOneThread) {
  limits_.owner_positions = kUpdates + 1;
  const std::vector<float> expected = sums("strategy=sequential", 1);
  EXPECT_EQ(sums("strategy=radix,threads=8", 8), expected);
  EXPECT_EQ(steps(PhaseKind::whole), 1);
  EXPECT_EQ(keys_made, 0);
}

TEST(RadixSchedule, RefusesWhatHasNoKeys) {
  const auto message = [](const std::string& text) { return test::schedule_message(text, "strategy=radix,threads=2"); };
  EXPECT_EQ(message("strew1.scatter(operand=f32[8,8] indices=i32[4] updates=f32[4,2,8] update_window_dims=[1,2] "
                    "scatter_dims_to_operand_dims=[0] index_vector_dim=1)"),
            "schedule: strategy radix: windows of kind general do not coincide");
  EXPECT_EQ(message("strew1.scatter(operand=i4[8] indices=i32[4] updates=i4[4] inserted_window_dims=[0] "
                    "scatter_dims_to_operand_dims=[0] index_vector_dim=1)"),
            "schedule: strategy radix: result 0 is packed i4");
  EXPECT_EQ(message("strew1.gather(operand=f32[8] indices=i32[4] result=f32[4] collapsed_slice_dims=[0] start_index_map=[0] "
                    "index_vector_dim=1 slice_sizes=[1])"),
            "schedule: strategy radix: a gather has no destinations to own");
}

}  // namespace
}  // namespace strew
