// Runtime: prepared ops, loans, the capacity as a program sees it, and requests in a forked child.
#include "strew/runtime.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "strew/builder.h"
#include "strew/forms.h"
#include "tests/support/options.h"

namespace strew {
namespace {

using namespace types;
using testing::HasSubstr;

Expected<Scatter> rows(int64_t count) { return scatter_rows(f32({8, 4}), i32({count}), f32({count, 4})).in_place().build(); }

TEST(PreparedOp, IsVerifiedAndKnowsItsKey) {
  KernelOptions options;
  options.threads = 1;
  const auto op = PreparedOp::of(*rows(3), options);
  ASSERT_TRUE(op.ok());
  EXPECT_EQ(*op->op(), Op(*rows(3)));
  EXPECT_EQ(op->options().threads, 1);
  EXPECT_EQ(op->key(), kernel_key(*rows(3), options));
  Scatter wrong = *rows(3);
  wrong.dims.index_vector_dim = 7;
  const auto refused = PreparedOp::of(wrong);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), Code::invalid_argument);
  EXPECT_THAT(refused.status().message(), HasSubstr("index_vector_dim"));
}

TEST(PreparedOp, WhatABuilderReturnsIsTakenAndItsFailurePassedOn) {
  Runtime runtime;
  EXPECT_TRUE(PreparedOp::of(rows(3)).ok());
  EXPECT_TRUE(runtime.get(rows(3)).ok());
  EXPECT_TRUE(runtime.get(PreparedOp::of(rows(3))).ok());
  EXPECT_TRUE(runtime.get_async(PreparedOp::of(rows(3))).wait().ok());

  const Expected<Scatter> wrong = scatter_rows(f32({8, 4}), f32({3}), f32({3, 4})).build();
  ASSERT_FALSE(wrong.ok());
  const std::string why = wrong.status().message();
  EXPECT_EQ(PreparedOp::of(wrong).status().message(), why);
  EXPECT_EQ(runtime.get(wrong).status().message(), why);
  EXPECT_EQ(runtime.get(PreparedOp::of(wrong)).status().message(), why);
  std::string told;
  PendingKernel pending =
      runtime.get_async(PreparedOp::of(wrong), [&](const Expected<Kernel>& answer) { told = answer.status().message(); });
  EXPECT_EQ(told, why);
  EXPECT_TRUE(pending.ready());
  EXPECT_EQ(pending.wait().status().message(), why);
  pending.cancel();
}

TEST(Runtime, OneKernelAppendsEveryBatchToAFixedCache) {
  Runtime runtime;
  const auto kernel =
      runtime.get(tensor_scatter(f32({6, 2, 8, 4}), i32({kDynamic}), f32({kDynamic, 2, 1, 4})).in_place().build());
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  for (const int64_t batch : {0, 1, 5, 6, 7}) {
    const auto count = static_cast<size_t>(batch);
    std::vector<float> cache(6 * 2 * 8 * 4), tokens(count * 8, 1.0F);
    std::vector<int32_t> places(count, 3);
    const int64_t cache_dims[] = {6, 2, 8, 4}, place_dims[] = {batch}, token_dims[] = {batch, 2, 1, 4};
    const TensorView views[] = {{cache.data(), cache_dims}, {places.data(), place_dims}, {tokens.data(), token_dims}};
    const Status status = kernel->run(views);
    if (batch > 6) {
      EXPECT_EQ(status.code(), Code::invalid_argument) << "seven sequences into six";
      continue;
    }
    ASSERT_TRUE(status.ok()) << status.message();
    float sum = 0;
    for (const float value : cache) sum += value;
    EXPECT_EQ(sum, static_cast<float>(8 * batch));
    if (batch > 0) {
      EXPECT_EQ(cache[(static_cast<size_t>(batch - 1) * 2 * 8 + 3) * 4], 1.0F);
    }
  }
  EXPECT_EQ(runtime.stats().built, 1u);
}

TEST(Runtime, LendsWhatItRemembers) {
  Runtime runtime;
  const PreparedOp op = *PreparedOp::of(*rows(3));
  EXPECT_FALSE(runtime.lend(op.key()));
  const Kernel kernel = *runtime.get(op);
  {
    const LentKernel lent = runtime.lend(op.key());
    ASSERT_TRUE(lent);
    EXPECT_EQ(lent->state(), kernel.state());
    runtime.clear();
    EXPECT_EQ(lent->symbol(), kernel.symbol()) << "a loan outlives the cache's entry";
  }
  EXPECT_FALSE(runtime.lend(op.key()));
}

TEST(Runtime, CapacityBoundsWhatItRemembers) {
  Runtime runtime(test::exact_shapes());
  ASSERT_TRUE(runtime.get(*rows(1)).ok());
  const int64_t one = runtime.stats().bytes;
  ASSERT_GT(one, 0);
  runtime.set_capacity(8 * one);
  for (int64_t count = 2; count <= 40; ++count) {
    ASSERT_TRUE(runtime.get(*rows(count)).ok());
    EXPECT_LE(runtime.stats().bytes, 9 * one);
  }
  EXPECT_GT(runtime.stats().evicted, 20u);
  EXPECT_LE(runtime.stats().kernels, 9u);
  // The compile thread refers to the last kernel until it has left the job.
  for (int turn = 0; turn < 1000 && runtime.stats().kernels > 0; ++turn) {
    runtime.set_capacity(0);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(runtime.stats().kernels, 0u);
  EXPECT_EQ(runtime.stats().bytes, 0);
}

TEST(Runtime, ThreadsAskWhileKernelsAreForgotten) {
  Runtime runtime;
  ASSERT_TRUE(runtime.get(*rows(1)).ok());
  runtime.set_capacity(4 * runtime.stats().bytes);
  std::vector<PreparedOp> ops;
  for (int64_t count = 1; count <= 10; ++count) ops.push_back(*PreparedOp::of(*rows(count)));
  std::atomic<int> wrong{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 60; ++i) {
        const PreparedOp& op = ops[(i * static_cast<size_t>(t + 1)) % ops.size()];
        const auto kernel = runtime.get(op);
        wrong += !kernel.ok() || !(*kernel->op() == *op.op());
        const LentKernel lent = runtime.lend(op.key());
        wrong += lent && !(*lent->op() == *op.op());
      }
    });
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

TEST(Runtime, AChildRunsWhatWasBuiltAndBuildsAnew) {
  Runtime runtime;
  const Kernel kernel = *runtime.get(*rows(3));
  // Other threads compile while this one forks.
  std::atomic<bool> stop{false};
  std::jthread busy([&] {
    for (int64_t count = 100; !stop; ++count) static_cast<void>(runtime.get(*rows(count)));
  });
  for (int turn = 0; turn < 3; ++turn) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);  // a hang ends the child with a signal
      std::vector<float> table(32), updates(12, 1.0F);
      std::vector<int32_t> indices{1, 2, 3};
      const int64_t dims[] = {8, 4}, count[] = {3}, update_dims[] = {3, 4};
      const std::vector<TensorView> views{{table.data(), dims}, {indices.data(), count}, {updates.data(), update_dims}};
      int failures = kernel.run(views).ok() && table[4] == 1.0F ? 0 : 1;
      if (!runtime.get(*rows(3)).ok()) failures += 2;
      if (!runtime.get(*rows(50 + turn)).ok()) failures += 4;
      runtime.clear();
      _exit(failures);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  stop = true;
}

}  // namespace
}  // namespace strew
