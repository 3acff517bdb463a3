// Bounds of folds in an open order: every order's result lies inside, a lost, doubled or foreign update outside, NaNs are demanded, and what
// may overflow on the way is left alone.
#include "tests/differential/fold_bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

#include "strew/text.h"
#include "tests/support/elements.h"

namespace strew::test {
namespace {

using testing::HasSubstr;

/// Five updates of f32 that all go to element 1 of three. Element 1's first value is the test's, the updates are random.
class Folds : public testing::Test {
 protected:
  void make(const std::string& combiner, uint64_t seed, std::optional<float> initial = {}) {
    op_ = *parse_op(
        "strew1.scatter(operand=f32[3] indices=i64[5] updates=f32[5] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
        "index_vector_dim=1 init=in_place order=relaxed combiner=" +
        combiner + ")");
    Rng rng(seed);
    call_.emplace(pool_, rng, op_, DataMode::ordinary);
    const IndexValues indices(5, 1);
    store_indices(op_, call_->index_origins(), indices);
    auto* result = static_cast<float*>(call_->views()[0].data);
    if (initial) result[1] = *initial;
    values_.assign(1, result[1]);
    const auto* updates = static_cast<const float*>(call_->views()[2].data);
    values_.insert(values_.end(), updates, updates + 5);
    bounds_.emplace(*call_, geometry_of(op_), indices);
  }
  /// The complaint about this value in element 1.
  std::optional<std::string> about(float value) {
    Call::Image image = call_->results();
    std::memcpy(image[0].data() + call_->origin_offset(0) + 4, &value, sizeof value);
    return bounds_->first_outside(*call_, image);
  }
  float fold(const std::string& combiner, std::vector<int> order) const {
    float value = values_[0];
    for (const int i : order) {
      const float update = values_[static_cast<size_t>(i)];
      value = combiner == "add"   ? value + update
              : combiner == "sub" ? value - update
              : combiner == "mul" ? value * update
                                  : value / update;
    }
    return value;
  }

  GuardedPool pool_;
  Op op_;
  std::optional<Call> call_;
  std::optional<FoldBounds> bounds_;
  std::vector<float> values_;  ///< of element 1: the first, then the updates
};

TEST_F(Folds, EveryOrderLiesInsideAndALostOrDoubledUpdateOutside) {
  for (const std::string combiner : {"add", "sub", "mul", "div"}) {
    for (uint64_t seed = 0; seed < 50; ++seed) {
      make(combiner, seed);
      ASSERT_EQ(bounds_->bounded(), 1);
      Rng rng(seed);
      std::vector<int> order{1, 2, 3, 4, 5};
      for (int n = 0; n < 10; ++n) {
        rng.shuffle(order);
        EXPECT_EQ(about(fold(combiner, order)), std::nullopt) << combiner << " " << seed;
      }
      if (std::abs(std::abs(values_[1]) - 1) < 1e-3F) continue;  // a factor of one leaves no trace
      EXPECT_TRUE(about(fold(combiner, {2, 3, 4, 5})).has_value()) << combiner << " " << seed;
      EXPECT_TRUE(about(fold(combiner, {1, 1, 2, 3, 4, 5})).has_value()) << combiner << " " << seed;
    }
  }
}

TEST_F(Folds, SumsMayBeGrouped) {
  make("add", 3);
  EXPECT_EQ(about((values_[0] + values_[1]) + ((values_[2] + values_[3]) + (values_[4] + values_[5]))), std::nullopt);
  const auto complaint = about(values_[0]);
  ASSERT_TRUE(complaint.has_value());
  EXPECT_THAT(*complaint, HasSubstr("result 0: element 1 (row-major) of 5 updates in any order: expected"));
}

TEST_F(Folds, ANaNAmongTheValuesIsDemanded) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const char* combiner : {"add", "mul"}) {
    make(combiner, 1, nan);
    EXPECT_EQ(about(nan), std::nullopt);
    EXPECT_TRUE(about(1.0F).has_value());
  }
}

TEST_F(Folds, WhatMayOverflowOnTheWayIsNotCompared) {
  for (const char* combiner : {"add", "mul"}) {
    make(combiner, 1, std::numeric_limits<float>::max());
    EXPECT_EQ(bounds_->bounded(), 0);
    EXPECT_EQ(about(0.0F), std::nullopt);
  }
}

TEST_F(Folds, OnlyElementsOfTwoUpdatesAreOpen) {
  make("add", 1);
  EXPECT_FALSE(bounds_->is_open(0, 0));
  EXPECT_TRUE(bounds_->is_open(0, 1));
  Call::Image from = call_->results(), to = from;
  for (int64_t element : {0, 1}) store_element(to[0].data() + call_->origin_offset(0), {DType::f32, {1, 0}}, element);
  bounds_->copy_open(*call_, from, to);
  EXPECT_EQ(load_element(to[0].data() + call_->origin_offset(0), DType::f32, 0).bits[0], 1u);
  EXPECT_EQ(load_element(to[0].data() + call_->origin_offset(0), DType::f32, 1),
            load_element(from[0].data() + call_->origin_offset(0), DType::f32, 1));
}

TEST(OrderIsOpen, ForRelaxedFloatSumsAndProductsOnly) {
  const auto open = [](const std::string& dtype, const std::string& rest) {
    return order_is_open(*parse_op("strew1.scatter(operand=" + dtype + "[3] indices=i64[5] updates=" + dtype +
                                   "[5] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 " + rest +
                                   ")"));
  };
  EXPECT_TRUE(open("f32", "combiner=add order=relaxed"));
  EXPECT_TRUE(open("complex64", "combiner=mul order=relaxed"));
  EXPECT_FALSE(open("f32", "combiner=add"));
  EXPECT_FALSE(open("f32", "combiner=max order=relaxed"));
  EXPECT_FALSE(open("i32", "combiner=add order=relaxed"));
  EXPECT_FALSE(open("f32", "order=relaxed"));
}

}  // namespace
}  // namespace strew::test
