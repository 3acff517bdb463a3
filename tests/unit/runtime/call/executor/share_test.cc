// Shares: an owner and threads that help take every chunk once, from both ends. Sets of workers: taken once, by whoever comes first.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "runtime/call/executor/thread_pool.h"

namespace strew {
namespace {

TEST(Share, OwnersTakeFromTheFrontOthersFromTheBack) {
  Share share;
  EXPECT_EQ(share.take_first(), -1);
  EXPECT_EQ(share.take_last(), -1);
  share.set(5, 8);
  EXPECT_EQ(share.take_first(), 5);
  EXPECT_EQ(share.take_last(), 7);
  EXPECT_EQ(share.take_last(), 6);
  EXPECT_EQ(share.take_first(), -1);
  share.set(2147483645, 2147483647);
  EXPECT_EQ(share.take_last(), 2147483646);
  EXPECT_EQ(share.take_first(), 2147483645);
  EXPECT_EQ(share.take_first(), -1);
}

TEST(Share, EveryChunkGoesToOneThread) {
  constexpr int kChunks = 100000, kThreads = 4;
  Share share;
  share.set(0, kChunks);
  std::vector<std::vector<int>> taken(kThreads);
  std::vector<std::thread> threads;
  for (int me = 0; me < kThreads; ++me) {
    threads.emplace_back([&share, &mine = taken[static_cast<size_t>(me)], me] {
      for (int chunk = me == 0 ? share.take_first() : share.take_last(); chunk >= 0;
           chunk = me == 0 ? share.take_first() : share.take_last())
        mine.push_back(chunk);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<int> all;
  for (const auto& some : taken) all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), static_cast<size_t>(kChunks));
  for (int i = 0; i < kChunks; ++i) ASSERT_EQ(all[static_cast<size_t>(i)], i);
}

TEST(WorkerSet, GivesTheSmallestNumbersAndEachOnce) {
  WorkerSet set;
  std::vector<uint16_t> ids(WorkerSet::kMost);
  EXPECT_EQ(set.take(3, ids.data()), 0);
  const std::vector<uint16_t> members = {2, 3, 63, 64, 200, 1023};
  set.add(members.data(), static_cast<int>(members.size()));
  EXPECT_FALSE(set.remove(4));
  EXPECT_TRUE(set.remove(3));
  EXPECT_FALSE(set.remove(3));
  ASSERT_EQ(set.take(2, ids.data()), 2);
  EXPECT_EQ(ids[0], 2);
  EXPECT_EQ(ids[1], 63);
  set.add(2);
  ASSERT_EQ(set.take(1000, ids.data()), 4);
  EXPECT_EQ((std::vector<uint16_t>(ids.begin(), ids.begin() + 4)), (std::vector<uint16_t>{2, 64, 200, 1023}));
  set.add(7);
  set.clear();
  EXPECT_EQ(set.take(1, ids.data()), 0);
}

}  // namespace
}  // namespace strew
