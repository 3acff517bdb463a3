// Distributions: their texts, and that what is drawn is what they say.
#include "tune/distribution.h"

#include <algorithm>
#include <map>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace strew {
namespace {

using testing::HasSubstr;

std::vector<int64_t> drawn(const std::string& text, int64_t count, int64_t rows, uint64_t seed = 1) {
  const Expected<Distribution> distribution = parse_distribution(text);
  EXPECT_TRUE(distribution.ok()) << distribution.status().message();
  Expected<std::vector<int64_t>> out = draw_rows(*distribution, count, rows, seed);
  EXPECT_TRUE(out.ok()) << out.status().message();
  for (const int64_t row : *out) EXPECT_TRUE(row >= 0 && row < rows) << row;
  return *out;
}

TEST(Distribution, TextsAreReadAsTheyArePrinted) {
  for (const char* text : {"uniform", "zipf(1.1)", "sorted", "runs(8)", "hot(0.5)", "permutation", "folder/indices.npy"})
    EXPECT_EQ(print(*parse_distribution(text)), text);
}

TEST(Distribution, BadTextsAreRefusedWithWhatIsExpected) {
  for (const char* text : {"", "zipf", "zipf()", "zipf(x)", "zipf(0)", "zipf(-1)", "zipf(1", "zipf(1)x", "zipf(nan)",
                           "uniform(1)", "runs(0.5)", "hot(1.5)", "hot(-0.1)", "gauss", "indices.txt"}) {
    const Expected<Distribution> out = parse_distribution(text);
    ASSERT_FALSE(out.ok()) << text;
    EXPECT_THAT(out.status().message(), HasSubstr("indices: '" + std::string(text) + "', expected uniform, zipf(s)"));
  }
}

TEST(Distribution, SeedsDecide) {
  for (const char* text : {"uniform", "zipf(1)", "runs(4)", "hot(0.5)", "permutation"}) {
    EXPECT_EQ(drawn(text, 100, 1000, 7), drawn(text, 100, 1000, 7)) << text;
    EXPECT_NE(drawn(text, 100, 1000, 7), drawn(text, 100, 1000, 8)) << text;
  }
}

TEST(Distribution, APermutationHasEachRowOnce) {
  for (const int64_t rows : {1, 2, 3, 5, 64, 1000, 4097}) {
    const std::vector<int64_t> all = drawn("permutation", rows, rows);
    EXPECT_EQ(std::set<int64_t>(all.begin(), all.end()).size(), static_cast<size_t>(rows));
  }
  EXPECT_THAT(draw_rows(*parse_distribution("permutation"), 5, 4, 1).status().message(),
              HasSubstr("a permutation of 4 rows has no 5"));
}

TEST(Distribution, SortedAscends) {
  const std::vector<int64_t> all = drawn("sorted", 1000, 300);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
}

TEST(Distribution, ShareOfTheMostFrequentRow) {
  const auto share = [](const std::vector<int64_t>& all) {
    std::map<int64_t, int64_t> counts;
    int64_t most = 0;
    for (const int64_t row : all) most = std::max(most, ++counts[row]);
    return static_cast<double>(most) / static_cast<double>(all.size());
  };
  EXPECT_LT(share(drawn("uniform", 20'000, 1000)), 0.01);
  EXPECT_NEAR(share(drawn("hot(0.5)", 20'000, 1000)), 0.5, 0.02);
  // The first rank's share is 1 over the sum of 1/k: 0.134 for 1,000 rows; with exponent 2 it is 0.608.
  EXPECT_NEAR(share(drawn("zipf(1)", 20'000, 1000)), 0.134, 0.01);
  EXPECT_NEAR(share(drawn("zipf(2)", 20'000, 1000)), 0.608, 0.02);
  EXPECT_NEAR(share(drawn("zipf(0.5)", 20'000, 1000)), 0.016, 0.006);
}

TEST(Distribution, RunsHaveTheirLength) {
  const std::vector<int64_t> all = drawn("runs(8)", 40'000, 100'000);
  int64_t runs = 1;
  for (size_t i = 1; i < all.size(); ++i) runs += all[i] != all[i - 1] ? 1 : 0;
  EXPECT_NEAR(40'000.0 / static_cast<double>(runs), 8, 0.5);
}

TEST(Distribution, ATableWithoutRowsHasNone) {
  EXPECT_TRUE(draw_rows(*parse_distribution("uniform"), 0, 0, 1)->empty());
  EXPECT_THAT(draw_rows(*parse_distribution("uniform"), 1, 0, 1).status().message(), HasSubstr("expected a row at least"));
}

}  // namespace
}  // namespace strew
