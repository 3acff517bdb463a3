// Status and Expected: success is free and copyable, a failure carries its code and sentence, the macros hand it on.
#include "strew/status.h"

#include <gtest/gtest.h>

#include "base/assign.h"

namespace strew {
namespace {

TEST(Status, OkHasNoMessage) {
  const Status ok;
  EXPECT_TRUE(ok.ok());
  EXPECT_EQ(ok.code(), Code::ok);
  EXPECT_EQ(ok.message(), "");
  EXPECT_EQ(sizeof(Status), sizeof(void*));
}

TEST(Status, FailureSurvivesCopyAndMove) {
  Status failure = out_of_bounds("index 9");
  const Status copy = failure;
  const Status moved = std::move(failure);
  for (const Status& s : {copy, moved}) {
    EXPECT_FALSE(s.ok());
    EXPECT_EQ(s.code(), Code::out_of_bounds);
    EXPECT_EQ(s.message(), "index 9");
  }
}

TEST(Expected, IsAssignedToAVariableOrSaysWhyNot) {
  int variable = 1;
  EXPECT_TRUE(assign(variable, Expected<int>(7)).ok());
  EXPECT_EQ(variable, 7);
  EXPECT_EQ(assign(variable, Expected<int>(unsupported("no"))).message(), "no");
  EXPECT_EQ(variable, 7);
}

TEST(Expected, HoldsValueOrFailure) {
  const Expected<int> value = 7;
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(*value, 7);
  const Expected<int> failure = unsupported("no");
  ASSERT_FALSE(failure.ok());
  EXPECT_EQ(failure.status().code(), Code::unsupported);
  const Expected<int> confused = Status();
  EXPECT_EQ(confused.status().code(), Code::internal);
}

Expected<int> half(int n) {
  if (n % 2 != 0) return invalid_argument("odd " + std::to_string(n));
  return n / 2;
}
Expected<int> quarter(int n) {
  STREW_ASSIGN(const int once, half(n));
  STREW_ASSIGN(const int twice, half(once));
  return twice;
}
Status check_quarter(int n) {
  STREW_TRY(quarter(n).status());
  return internal_error("reached the end");
}

TEST(Expected, MacrosHandFailuresOn) {
  EXPECT_EQ(*quarter(12), 3);
  EXPECT_EQ(quarter(6).status().message(), "odd 3");
  EXPECT_EQ(check_quarter(7).message(), "odd 7");
  EXPECT_EQ(check_quarter(8).message(), "reached the end");
}

TEST(Status, PrefixSaysWhatTheFailureIsAbout) {
  const Status failure = io_error("no space left").with_prefix("out.npy");
  EXPECT_EQ(failure.code(), Code::io);
  EXPECT_EQ(failure.message(), "out.npy: no space left");
  EXPECT_TRUE(Status().with_prefix("out.npy").ok());
}

TEST(Expected, ValueOrTakesTheOtherOnFailure) {
  EXPECT_EQ(half(8).value_or(-1), 4);
  EXPECT_EQ(half(7).value_or(-1), -1);
  const Expected<std::string> text = std::string("a");
  EXPECT_EQ(text.value_or("b"), "a");
}

TEST(Expected, OfBoolIsNoCondition) {
  EXPECT_FALSE((std::is_constructible_v<bool, Expected<bool>>));
  EXPECT_TRUE((std::is_constructible_v<bool, Expected<int>>));
}

TEST(Expected, ReadingAValueThatIsNotThereEndsBuildsWithAssertions) {
#ifdef NDEBUG
  GTEST_SKIP() << "this build has no assertions";
#else
  const Expected<int> failure = unsupported("no such dtype");
  EXPECT_DEATH((void)*failure, "the value of an Expected was read that has none: no such dtype");
  EXPECT_DEATH((void)half(3).value(), "odd 3");
#endif
}

}  // namespace
}  // namespace strew
