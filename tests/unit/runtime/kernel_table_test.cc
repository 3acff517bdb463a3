// The table of kernels: read without a lock while it grows, is cleared and forgets; nothing is freed while a reader may look.
#include "runtime/kernel_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "strew/runtime.h"
#include "strew/text.h"

namespace strew {
namespace {

Kernel any_kernel() {
  const auto op = parse_op(
      "strew1.scatter(operand=f32[6,4] indices=i32[3] updates=f32[3,4] update_window_dims=[1] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1)");
  KernelOptions options;
  options.backend = BackendChoice::reference;
  return *Runtime().get(*op, options);
}

TEST(KernelTable, IsReadWhileItGrowsForgetsAndIsCleared) {
  KernelTable table;
  const Kernel kernel = any_kernel();
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> wrong{0}, found{0};
  std::thread writer([&] {
    for (int round = 0; round < 20; ++round) {
      for (uint64_t i = 1; i <= 500; ++i) table.put({i, ~i}, kernel);
      for (uint64_t i = 1; i <= 500; i += 3) table.remove({i, ~i});
      if (table.size() != 333) ++wrong;
      table.clear();
    }
    stop = true;
  });
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t)
    readers.emplace_back([&] {
      for (uint64_t i = 1; !stop; i = i % 500 + 1) {
        const EpochReader reader;
        const KernelTable::Entry* const hit = table.find({i, ~i}, reader.record());
        if (hit != nullptr && &hit->kernel.op() != &kernel.op()) ++wrong;
        if (table.find({i, i}, reader.record()) != nullptr) ++wrong;
        found += hit != nullptr;
      }
    });
  for (std::thread& reader : readers) reader.join();
  writer.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(table.hits(), found);
}

TEST(KernelTable, AnEntryLivesAsLongAsAReaderOfItsTime) {
  epochs::collect();
  KernelTable table;
  Kernel kernel = any_kernel();
  const std::weak_ptr<const Kernel::State> state = kernel.state();
  table.put({1, 2}, kernel);
  kernel = {};
  {
    const EpochReader reader;
    const KernelTable::Entry* const entry = table.find({1, 2}, reader.record());
    ASSERT_NE(entry, nullptr);
    table.remove({1, 2});
    EXPECT_GT(epochs::collect(), 0u);
    EXPECT_EQ(table.find({1, 2}, reader.record()), nullptr);
    EXPECT_TRUE(entry->kernel);  // still there
  }
  EXPECT_FALSE(state.expired());
  EXPECT_EQ(epochs::collect(), 0u);
  EXPECT_TRUE(state.expired());
}

TEST(KernelTable, TakesAKeyAgainThatItForgot) {
  KernelTable table;
  const Kernel kernel = any_kernel();
  for (int turn = 0; turn < 1000; ++turn) {
    table.put({7, 7}, kernel);
    table.put({7, 7}, kernel);
    EXPECT_EQ(table.size(), 1u);
    EXPECT_EQ(table.remove({7, 7}).state(), kernel.state());
    EXPECT_FALSE(table.remove({7, 7}));
    EXPECT_EQ(table.size(), 0u);
  }
}

TEST(KernelTable, ExchangesAKernelWhileOthersReadIt) {
  KernelTable table;
  const Kernel one = any_kernel(), two = any_kernel();
  table.put({3, 3}, one);
  std::atomic<bool> stop{false};
  std::atomic<int> misses{0};
  std::thread reader([&] {
    while (!stop.load()) {
      const EpochReader reading;
      const KernelTable::Entry* const found = table.find({3, 3}, reading.record());
      if (found == nullptr || (found->kernel.state() != one.state() && found->kernel.state() != two.state())) misses.fetch_add(1);
    }
  });
  for (int turn = 0; turn < 2000; ++turn) {
    EXPECT_EQ(table.put({3, 3}, two).state(), one.state());
    EXPECT_EQ(table.put({3, 3}, one).state(), two.state());
  }
  stop = true;
  reader.join();
  EXPECT_EQ(misses, 0);
  EXPECT_EQ(table.size(), 1u);
  ASSERT_NE(table.peek({3, 3}), nullptr);
  EXPECT_EQ(table.peek({3, 3})->state(), one.state());
  EXPECT_EQ(table.peek({4, 4}), nullptr);
}

TEST(KernelTable, TellsWhichEntryWasNotUsedForTheLongestTime) {
  KernelTable table;
  const Kernel kernel = any_kernel();
  for (uint64_t i = 1; i <= 5; ++i) table.put({i, i}, kernel);
  {
    const EpochReader reader;
    EXPECT_NE(table.find({1, 1}, reader.record()), nullptr);
  }
  table.put({6, 6}, kernel);
  std::vector<uint64_t> order;
  for (const KernelTable::Entry* entry : table.by_age()) order.push_back(entry->key.low);
  EXPECT_EQ(order.front(), 2u);
  EXPECT_EQ(order.back(), 6u);
  EXPECT_EQ(order.size(), 6u);
}

}  // namespace
}  // namespace strew
