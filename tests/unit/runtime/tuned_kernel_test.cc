// A kernel that tunes itself in service: right results all the while, from several threads, and an outcome in wisdom.
#include "strew/tuned_kernel.h"

#include <filesystem>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "schedules/wisdom/wisdom_file.h"
#include "strew/text.h"

namespace strew {
namespace {

using testing::HasSubstr;

Op add_op() {
  return std::move(
      *parse_op("strew1.scatter(operand=f32[64,16] indices=i32[32] updates=f32[32,16] update_window_dims=[1] "
                "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place "
                "oob=error)"));
}

/// Tensors of one caller; every call adds one to rows 0..31.
struct Caller {
  std::vector<float> table = std::vector<float>(64 * 16), updates = std::vector<float>(32 * 16, 1);
  std::vector<int32_t> indices = std::vector<int32_t>(32);
  const std::vector<int64_t> table_dims{64, 16}, update_dims{32, 16}, index_dims{32};
  Caller() {
    for (size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<int32_t>(i);
  }
  std::vector<TensorView> views() {
    return {{table.data(), table_dims}, {indices.data(), index_dims}, {updates.data(), update_dims}};
  }
};

TEST(TunedKernel, ServesWhileItTriesAndSettles) {
  const std::string wisdom = testing::TempDir() + "/tuned_kernel.jsonl";
  std::filesystem::remove(wisdom);
  Runtime runtime;
  const Expected<TunedKernel> kernel = TunedKernel::make(runtime, add_op(), {}, {1, 3, wisdom});
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  constexpr int kThreads = 3;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      Caller caller;
      const std::vector<TensorView> views = caller.views();
      int calls = 0;
      const auto start = std::chrono::steady_clock::now();
      while ((!kernel->stats().is_settled || calls < 100) &&
             std::chrono::steady_clock::now() - start < std::chrono::seconds(60)) {
        ASSERT_TRUE(kernel->run(views).ok());
        if (++calls % 1000 == 0) std::fill(caller.table.begin(), caller.table.end(), 0.0F);
      }
      for (size_t i = 0; i < caller.table.size(); ++i)
        ASSERT_EQ(caller.table[i], i < 32 * 16 ? static_cast<float>(calls % 1000) : 0.0F) << i;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(kernel->stats().is_settled);
  EXPECT_GT(kernel->stats().trials, 0U);
  const Expected<WisdomLines> kept = read_wisdom(wisdom);
  ASSERT_TRUE(kept.ok());
  ASSERT_FALSE(kept->records.empty());
  EXPECT_EQ(kept->records[0].indices, "in service");
}

TEST(TunedKernel, AFailedCallIsReportedAsKernelsDo) {
  Runtime runtime;
  const Expected<TunedKernel> kernel = TunedKernel::make(runtime, add_op());
  ASSERT_TRUE(kernel.ok());
  Caller caller;
  caller.indices[7] = 64;
  EXPECT_EQ(kernel->run(caller.views()).code(), Code::out_of_bounds);
  for (const float value : caller.table) EXPECT_EQ(value, 0);
}

TEST(TunedKernel, BadSettingsAreRefused) {
  Runtime runtime;
  const auto refusal = [&](const KernelOptions& options, const OnlineTuning& tuning) {
    const Expected<TunedKernel> kernel = TunedKernel::make(runtime, add_op(), options, tuning);
    return kernel.ok() ? std::string("accepted") : kernel.status().message();
  };
  EXPECT_THAT(refusal({}, {-0.1, 3, ""}), HasSubstr("regret: it is -0.1"));
  EXPECT_THAT(refusal({}, {2, 3, ""}), HasSubstr("regret: it is 2"));
  EXPECT_THAT(refusal({}, {0.01, -1, ""}), HasSubstr("candidates: it is -1"));
  KernelOptions fixed;
  fixed.schedule.unroll = 8;
  EXPECT_THAT(refusal(fixed, {}), HasSubstr("schedule: it is given"));
  KernelOptions backend;
  backend.backend = BackendChoice::halide;
  EXPECT_THAT(refusal(backend, {}), HasSubstr("backend: it is halide, expected auto"));
}

}  // namespace
}  // namespace strew
