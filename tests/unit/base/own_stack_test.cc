// with_stack: in place where there is room, else on a thread of its own; values, failures and exceptions come back; a thread that cannot be
// made is a Status.
#include "base/own_stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <csignal>
#include <stdexcept>

#include "tests/support/small_stack.h"

namespace strew {
namespace {

using testing::HasSubstr;

constexpr size_t kMiB = size_t{1} << 20;

TEST(OwnStack, LeavesWorkInPlaceWhereThereIsRoom) {
  const pthread_t here = pthread_self();
  EXPECT_GT(stack_left(), 64u * 1024);
  const Status status = with_stack(64 * 1024, [&]() -> Status {
    EXPECT_TRUE(pthread_equal(here, pthread_self()));
    return {};
  });
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(OwnStack, TellsWhatIsLeftOfAThread) {
  test::on_small_stack(test::kSmallStack, [] {
    EXPECT_GT(stack_left(), test::kSmallStack / 2);
    EXPECT_LE(stack_left(), 4 * test::kSmallStack);  // the C library may hand out a larger stack, of a thread that has ended
  });
}

TEST(OwnStack, TellsWhatTheCLibraryTellsOfTheMainThread) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_getattr_np(pthread_self(), &attributes), 0);
  void* low = nullptr;
  size_t size = 0;
  ASSERT_EQ(pthread_attr_getstack(&attributes, &low, &size), 0);
  pthread_attr_destroy(&attributes);
  const auto theirs = reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) - reinterpret_cast<uintptr_t>(low);
  EXPECT_NEAR(static_cast<double>(stack_left()), static_cast<double>(theirs), 4 * 4096.0 + 1024);
}

TEST(OwnStack, GivesAThreadWithRoomWhereThereIsNone) {
  test::on_small_stack(test::kSmallStack, [] {
    const pthread_t here = pthread_self();
    const Expected<size_t> left = with_stack<size_t>(64 * kMiB, [&]() -> Expected<size_t> {
      EXPECT_FALSE(pthread_equal(here, pthread_self()));
      volatile char room[16 * kMiB];
      for (size_t i = 0; i < sizeof room; i += 4096) room[i] = 1;
      return stack_left();
    });
    ASSERT_TRUE(left.ok()) << left.status().message();
    EXPECT_GE(*left, 40 * kMiB);
  });
}

TEST(OwnStack, BringsFailuresAndExceptionsBack) {
  for (const size_t bytes : {size_t{1}, 64 * kMiB}) {  // in place, and on a thread: 64 MiB are more than is left
    const Status failed = with_stack(bytes, [] { return unsupported("no"); });
    EXPECT_EQ(failed.code(), Code::unsupported);
    EXPECT_EQ(failed.message(), "no");
    const Status thrown = with_stack(bytes, []() -> Status { throw std::runtime_error("thrown"); });
    EXPECT_EQ(thrown.code(), Code::internal);
    EXPECT_THAT(thrown.message(), HasSubstr("thrown"));
    EXPECT_EQ(with_stack(bytes, []() -> Status { throw 1; }).code(), Code::internal);
    const Expected<int> none = with_stack<int>(bytes, []() -> Expected<int> { return invalid_argument("bad"); });
    EXPECT_EQ(none.status().code(), Code::invalid_argument);
    const Expected<int> seven = with_stack<int>(bytes, []() -> Expected<int> { return 7; });
    ASSERT_TRUE(seven.ok());
    EXPECT_EQ(*seven, 7);
  }
}

TEST(OwnStack, SaysWhenThereIsNoThreadToBeHad) {
  bool ran = false;
  const Status status = with_stack(size_t{1} << 60, [&]() -> Status {
    ran = true;
    return {};
  });
  EXPECT_FALSE(ran);
  EXPECT_EQ(status.code(), Code::internal);
  EXPECT_THAT(status.message(), HasSubstr("1152921504606846976 bytes"));
}

TEST(OwnStack, TakesNoSignalsOnItsThreadAndLeavesTheCallersMask) {
  sigset_t before, after;
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, nullptr, &before), 0);
  const Status status = with_stack(64 * kMiB, []() -> Status {
    sigset_t inside;
    pthread_sigmask(SIG_SETMASK, nullptr, &inside);
    EXPECT_EQ(sigismember(&inside, SIGTERM), 1);
    EXPECT_EQ(sigismember(&inside, SIGSEGV), 0);
    return {};
  });
  EXPECT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, nullptr, &after), 0);
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1, SIGSEGV})
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal));
}

}  // namespace
}  // namespace strew
