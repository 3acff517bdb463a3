// The order of processors: lists of nodes as the system writes them, and what it says of this machine.
#include "base/cores.h"

#include <gtest/gtest.h>
#if defined(__linux__)
#include <sched.h>
#endif

#include <set>
#include <string>
#include <vector>

namespace strew {
namespace {

struct Reading {
  std::array<bool, CoreList::kMost> wanted{};
  CoreList order;

  explicit Reading(const std::set<int>& cores) {
    for (const int core : cores) wanted[static_cast<size_t>(core)] = true;
  }
  std::vector<int> numbers() const { return {order.numbers.begin(), order.numbers.begin() + order.count}; }
};

TEST(Cores, ListsOfNodesAreReadInTheirOrder) {
  Reading reading({0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_TRUE(append_cores("0,2,4,6", reading.wanted, reading.order));
  EXPECT_TRUE(append_cores("1,3,5,7", reading.wanted, reading.order));
  EXPECT_EQ(reading.numbers(), (std::vector<int>{0, 2, 4, 6, 1, 3, 5, 7}));
}

TEST(Cores, OnlyWantedOnesAndEachOnce) {
  Reading reading({2, 3, 8, 1023});
  EXPECT_TRUE(append_cores("0-3,8-9,2-3", reading.wanted, reading.order));
  EXPECT_TRUE(append_cores("", reading.wanted, reading.order));
  EXPECT_TRUE(append_cores("1000-4000", reading.wanted, reading.order));
  EXPECT_EQ(reading.numbers(), (std::vector<int>{2, 3, 8, 1023}));
}

TEST(Cores, OtherTextsAreRefused) {
  for (const std::string text : {"x", "1,", "1-", "-1", "1;2", "99999999999", "1 2"}) {
    Reading reading({1, 2});
    EXPECT_FALSE(append_cores(text, reading.wanted, reading.order)) << text;
  }
}

#if defined(__linux__)
TEST(Cores, OfThisThreadAreThoseOfItsMask) {
  cpu_set_t mine;
  ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
  const CoreList list = cores_by_node();
  ASSERT_EQ(list.count, CPU_COUNT(&mine));
  std::set<int> seen;
  for (int i = 0; i < list.count; ++i) {
    const int core = list.numbers[static_cast<size_t>(i)];
    EXPECT_TRUE(CPU_ISSET(static_cast<size_t>(core), &mine));
    EXPECT_TRUE(seen.insert(core).second) << core;
  }
}

TEST(Cores, AThreadLeavesACoreAndKeepsItsMask) {
  cpu_set_t before, after;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  bool left = CPU_COUNT(&before) == 1;
  for (int i = 0; i < 100 && !left; ++i) {  // the system may bring it back at once
    const int core = current_core();
    leave_core(core);
    left = current_core() != core;
  }
  EXPECT_TRUE(left);
  leave_core(-1);
  leave_core(CPU_SETSIZE);
  ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}
#endif

}  // namespace
}  // namespace strew
