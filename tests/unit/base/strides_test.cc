// distinct_offsets() against brute force on random small layouts, and the layouts that real code makes.
#include "base/strides.h"

#include <random>
#include <set>

#include "gtest/gtest.h"

namespace strew {
namespace {

bool distinct_by_listing(const std::vector<int64_t>& dims, const std::vector<int64_t>& strides) {
  std::vector<int64_t> offsets{0};
  for (size_t d = 0; d < dims.size(); ++d) {
    std::vector<int64_t> next;
    for (int64_t i = 0; i < dims[d]; ++i) {
      for (int64_t offset : offsets) next.push_back(offset + i * strides[d]);
    }
    offsets = next;
  }
  return std::set<int64_t>(offsets.begin(), offsets.end()).size() == offsets.size();
}

TEST(DistinctOffsets, AgreesWithListingThem) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  int distinct = 0;
  for (int i = 0; i < 20000; ++i) {
    std::vector<int64_t> dims(random() % 5), strides;
    for (int64_t& dim : dims) {
      dim = random() % 8 == 0 ? 0 : 1 + static_cast<int64_t>(random() % 5);
      strides.push_back(static_cast<int64_t>(random() % 61) - 30);
    }
    const bool expected = distinct_by_listing(dims, strides);
    distinct += expected ? 1 : 0;
    ASSERT_EQ(distinct_offsets(dims, strides), expected ? Distinct::yes : Distinct::no)
        << testing::PrintToString(dims) << testing::PrintToString(strides);
  }
  EXPECT_GT(distinct, 2000);
  EXPECT_LT(distinct, 18000);
}

Distinct of(std::vector<int64_t> dims, std::vector<int64_t> strides) { return distinct_offsets(dims, strides); }

TEST(DistinctOffsets, RealLayouts) {
  const int64_t huge = int64_t{1} << 40;
  EXPECT_EQ(of({huge, 2048, 128}, {2048 * 128, 128, 1}), Distinct::yes);
  EXPECT_EQ(of({128, 2048, huge}, {1, 128, 2048 * 128}), Distinct::yes) << "transposed";
  EXPECT_EQ(of({huge, 2048}, {4096, -2}), Distinct::yes) << "every other element, reversed";
  EXPECT_EQ(of({huge, 2048}, {2047, 1}), Distinct::no) << "overlapping rows";
  EXPECT_EQ(of({huge, 2}, {1, 0}), Distinct::no) << "broadcast";
  EXPECT_EQ(of({huge, 0}, {0, 0}), Distinct::yes) << "no element";
  EXPECT_EQ(of({}, {}), Distinct::yes);
}

TEST(DistinctOffsets, SaysWhenItCannotTell) {
  // Nothing nests, no pair collides, and there are too many elements to list.
  EXPECT_EQ(of({900, 900, 900}, {1009, 1013, 1019}), Distinct::unknown);
}

TEST(ContiguousStrides, AreRowMajor) {
  EXPECT_EQ(contiguous_strides(std::vector<int64_t>{2, 3, 4}), (std::vector<int64_t>{12, 4, 1}));
  EXPECT_EQ(contiguous_strides(std::vector<int64_t>{}), std::vector<int64_t>{});
}

TEST(Walk, VisitsElementsInRowMajorOrder) {
  const std::vector<int64_t> dims{2, 3, 2}, strides{-7, 2, 100};
  Walk walk(dims, strides), unstrided(dims);
  for (int round = 0; round < 2; ++round)  // behind the last element comes the first
    for (int64_t a = 0; a < 2; ++a)
      for (int64_t b = 0; b < 3; ++b)
        for (int64_t c = 0; c < 2; ++c, walk.next(), unstrided.next()) {
          EXPECT_EQ(walk.at(), (std::vector<int64_t>{a, b, c}));
          EXPECT_EQ(walk.offset(), -7 * a + 2 * b + 100 * c);
          EXPECT_EQ(unstrided.at(), walk.at());
          EXPECT_EQ(unstrided.offset(), 0);
        }
  Walk scalar({});
  scalar.next();
  EXPECT_EQ(scalar.offset(), 0);
}

}  // namespace
}  // namespace strew
