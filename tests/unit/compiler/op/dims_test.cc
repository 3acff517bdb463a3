// compiler/op/dims.h: the text of extents, and what two descriptions of a tensor's extents say together.
#include "compiler/op/dims.h"

#include <gtest/gtest.h>

#include "strew/op.h"

namespace strew {
namespace {

TEST(Dims, TextShowsDynamicExtentsAndEndsLongLists) {
  EXPECT_EQ(dims_text({}), "[]");
  EXPECT_EQ(dims_text({2, kDynamic, 16}), "[2,?,16]");
  EXPECT_EQ(dims_text(std::vector<int64_t>(16, 1)), "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]");
  EXPECT_EQ(dims_text(std::vector<int64_t>(1000, 1)), "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,...]");
}

TEST(Dims, AllDimsAreInOrder) {
  EXPECT_EQ(all_dims(0), std::vector<int64_t>());
  EXPECT_EQ(all_dims(3), (std::vector<int64_t>{0, 1, 2}));
}

TEST(Dims, UnifyTakesOverWhatTheOtherKnows) {
  std::vector<int64_t> dims{2, kDynamic, kDynamic};
  EXPECT_TRUE(unify_dims(dims, {kDynamic, 3, kDynamic}, "shape of operand 1").ok());
  EXPECT_EQ(dims, (std::vector<int64_t>{2, 3, kDynamic}));
  EXPECT_FALSE(is_static(dims));
  EXPECT_TRUE(unify_dims(dims, {2, 3, 4}, "shape of operand 2").ok());
  EXPECT_TRUE(is_static(dims));
}

TEST(Dims, UnifyRefusesContradictionsAndLeavesTheDims) {
  std::vector<int64_t> dims{kDynamic, 3};
  EXPECT_EQ(unify_dims(dims, {2, 4}, "shape of operand 1").message(), "shape of operand 1 [2,4], expected [?,3]");
  EXPECT_EQ(unify_dims(dims, {2}, "shape of operand 1").message(), "shape of operand 1 [2], expected [?,3]");
  EXPECT_EQ(dims, (std::vector<int64_t>{kDynamic, 3}));
}

TEST(Dims, ListsOfDimsAreInsideTheRankAndDifferent) {
  EXPECT_TRUE(check_dim(1, 2, "axis").ok());
  EXPECT_EQ(check_dim(2, 2, "axis").message(), "axis is 2, expected 0 to 1");
  EXPECT_EQ(check_dim(INT64_MIN, 0, "axis").message(), "axis is -9223372036854775808, expected 0 to -1");
  EXPECT_TRUE(check_dims({1, 0}, 2, "permutation").ok());
  EXPECT_TRUE(check_dims({}, 0, "permutation").ok());
  EXPECT_EQ(check_dims({1, 1}, 2, "permutation").message(), "permutation holds 1, expected each of 0 to 1 once at most");
  EXPECT_EQ(check_dims({-1}, 2, "permutation").message(), "permutation holds -1, expected each of 0 to 1 once at most");
}

}  // namespace
}  // namespace strew
