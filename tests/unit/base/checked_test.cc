// The edges of the arithmetic on extents: the last results that fit, the first that do not, and counts whose parts do not fit although they do.
#include "base/checked.h"

#include <gtest/gtest.h>

#include <array>

namespace strew {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = std::numeric_limits<int64_t>::min();

TEST(Checked, SumsAndProducts) {
  EXPECT_EQ(checked::add(kMost - 1, 1), kMost);
  EXPECT_FALSE(checked::add(kMost, 1).has_value());
  EXPECT_EQ(checked::sub(kLeast + 1, 1), kLeast);
  EXPECT_FALSE(checked::sub(kLeast, 1).has_value());
  EXPECT_EQ(checked::mul(int64_t{1} << 31, int64_t{1} << 31), int64_t{1} << 62);
  EXPECT_FALSE(checked::mul(int64_t{1} << 32, int64_t{1} << 31).has_value());
}

TEST(Checked, CeilDivNeverOverflows) {
  EXPECT_EQ(checked::ceil_div(0, 3), 0);
  EXPECT_EQ(checked::ceil_div(-5, 3), 0);
  EXPECT_EQ(checked::ceil_div(6, 3), 2);
  EXPECT_EQ(checked::ceil_div(7, 3), 3);
  EXPECT_EQ(checked::ceil_div(5, kMost), 1);
  EXPECT_EQ(checked::ceil_div(kMost, kMost), 1);
  EXPECT_EQ(checked::ceil_div(kMost, 1), kMost);
}

TEST(Checked, StepsCountAsPythonsRangeDoes) {
  EXPECT_EQ(checked::steps(0, 5, 2), 3);
  EXPECT_EQ(checked::steps(5, 0, -2), 3);
  EXPECT_EQ(checked::steps(0, 0, 1), 0);
  EXPECT_EQ(checked::steps(5, 0, 1), 0);
  EXPECT_EQ(checked::steps(0, 5, kMost), 1);
  EXPECT_EQ(checked::steps(5, 0, kLeast), 1);
  EXPECT_EQ(checked::steps(kLeast, kMost, kMost), 3);
  EXPECT_EQ(checked::steps(kLeast, kMost, 3), 6148914691236517205);
  EXPECT_FALSE(checked::steps(kLeast, kMost, 2).has_value());
  EXPECT_FALSE(checked::steps(kLeast, kMost, 1).has_value());
  EXPECT_FALSE(checked::steps(kMost, kLeast, -1).has_value());
}

TEST(Checked, ProductsOfExtents) {
  const std::array<int64_t, 3> fits{1 << 20, 1 << 20, 1 << 20}, wraps{int64_t{1} << 32, int64_t{1} << 32, 2},
      empty{wraps[0], wraps[1], 0};
  EXPECT_EQ(checked::product({}), 1);
  EXPECT_EQ(checked::product(fits), int64_t{1} << 60);
  EXPECT_FALSE(checked::product(wraps).has_value());
  EXPECT_EQ(checked::product(empty), 0);
}

}  // namespace
}  // namespace strew
