// Online tuning's decisions on times that are made up.
#include "runtime/call/online_search.h"

#include <functional>

#include "gtest/gtest.h"
#include "tune/random.h"

namespace strew {
namespace {

/// Calls with noise until the search is over: `time` of each candidate. Returns how many calls it took; at most a million.
int serve(OnlineSearch& search, const std::function<double(size_t)>& time, double noise = 0.05) {
  Random random(3);
  const auto noisy = [&](double ns) { return ns * (1 + noise * (2 * random.unit() - 1)); };
  int calls = 0;
  for (; !search.is_settled() && calls < 1'000'000; ++calls) {
    if (search.may_try())
      search.add_trial(noisy(time(search.next())), 1);
    else
      search.add_call(noisy(time(search.best())), 1);
    EXPECT_LE(search.regret_ns(), 0.01 * search.total_ns() + 3000);
  }
  return calls;
}

TEST(OnlineSearch, FindsTheFastest) {
  OnlineSearch search(5, 0.01);
  serve(search, [](size_t candidate) { return candidate == 3 ? 700.0 : candidate == 4 ? 600.0 : 1000.0; });
  EXPECT_TRUE(search.is_settled());
  EXPECT_EQ(search.best(), 4U);
  EXPECT_NEAR(search.ratio().median, 0.6, 0.05);
}

TEST(OnlineSearch, KeepsTheDefaultWhereNothingIsFaster) {
  OnlineSearch search(8, 0.01);
  serve(search, [](size_t candidate) { return candidate == 0 ? 1000.0 : 990.0 + static_cast<double>(candidate); });
  EXPECT_TRUE(search.is_settled());
  EXPECT_EQ(search.best(), 0U);
}

TEST(OnlineSearch, SlowCandidatesCostNoMoreThanTheRegretThatIsAllowed) {
  OnlineSearch search(10, 0.01);
  const int calls = serve(search, [](size_t candidate) { return candidate == 0 ? 1000.0 : 3000.0; });
  EXPECT_TRUE(search.is_settled());
  EXPECT_EQ(search.best(), 0U);
  EXPECT_LE(search.regret_ns(), 0.011 * search.total_ns());
  EXPECT_GT(calls, 5000);  // so many calls it takes to afford the trials
}

TEST(OnlineSearch, ComparesOnlyCallsOfOneShape) {
  OnlineSearch search(1, 1);
  for (int i = 0; i < 100 && !search.is_settled(); ++i) {
    search.add_call(1000, 1);
    search.add_trial(100, 2);  // a smaller call, not a faster candidate
  }
  EXPECT_EQ(search.best(), 0U);
}

TEST(OnlineSearch, WithoutCandidatesOrRegretNothingIsTried) {
  EXPECT_TRUE(OnlineSearch(0, 0.01).is_settled());
  OnlineSearch search(3, 0);
  for (int i = 0; i < 1000; ++i) {
    search.add_call(1000, 1);
    EXPECT_FALSE(search.may_try());
  }
}

TEST(OnlineSearch, CandidatesThatCannotBeBuiltAreSkipped) {
  OnlineSearch search(2, 0.01);
  search.skip();
  EXPECT_EQ(search.next(), 2U);
  search.skip();
  EXPECT_TRUE(search.is_settled());
}

}  // namespace
}  // namespace strew
