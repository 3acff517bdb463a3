// Medians and their intervals, which decide what counts as faster.
#include "tune/turns.h"

#include "gtest/gtest.h"
#include "tune/random.h"

namespace strew {
namespace {

TEST(Turns, MediansAndQuantiles) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(quantile({5, 1, 4, 2, 3}, 0), 1);
  EXPECT_EQ(quantile({5, 1, 4, 2, 3}, 1), 5);
  EXPECT_EQ(median({}), 0);
}

TEST(Turns, TheIntervalOfAMedianContainsTheTrueOne) {
  Random random(1);
  int contained = 0;
  constexpr int kTimes = 1000;
  for (int i = 0; i < kTimes; ++i) {
    std::vector<double> values;
    for (int k = 0; k < 39; ++k) values.push_back(random.unit() * random.unit());  // its median is 0.187
    const MedianRange range = median_range(values);
    EXPECT_LE(range.low, range.median);
    EXPECT_GE(range.high, range.median);
    contained += range.low <= 0.187 && 0.187 <= range.high ? 1 : 0;
  }
  EXPECT_GT(contained, 0.93 * kTimes);
  const MedianRange few = median_range({2, 9, 1});
  EXPECT_EQ(few.low, 1);
  EXPECT_EQ(few.high, 9);
  EXPECT_EQ(median_range({}).median, 0);
}

TEST(Turns, ASampleRunsBeforeAndAfterAroundItsTurn) {
  int64_t runs = 0;
  int before = 0, after = 0;
  const Way way{"", [&](int64_t calls) { runs += calls; }, [&] { ++before; }, [&] { ++after; }};
  EXPECT_GE(sample(way, 10, {}), 0);
  EXPECT_EQ(runs, 10);
  EXPECT_EQ(before, 1);
  EXPECT_EQ(after, 1);
  EXPECT_GE(calls_for(way, 3, 1000), 1);
}

}  // namespace
}  // namespace strew
