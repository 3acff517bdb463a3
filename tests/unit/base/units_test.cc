// Numbers with units: what would mix two of them up does not compile. That signatures use them where two units stand side by side is seen at the
// signatures that are named here.
#include "base/units.h"

#include <gtest/gtest.h>

#include <limits>
#include <string_view>
#include <type_traits>

#include "base/call_costs.h"
#include "base/headroom.h"
#include "runtime/call/executor/thread_pool.h"
#include "runtime/call/strategies/partition.h"

namespace strew {
namespace {

template <class From, class To>
constexpr bool kMixes = std::is_convertible_v<From, To> || std::is_assignable_v<To&, From>;
static_assert(!kMixes<int64_t, Bytes> && !kMixes<double, Bytes> && !kMixes<Bytes, int64_t> && !kMixes<Bytes, double>);
static_assert(!kMixes<Bytes, Chunks> && !kMixes<Chunks, Bytes> && !kMixes<int, Chunks> && !kMixes<Chunks, int>);
static_assert(!kMixes<Bytes, Nanoseconds> && !kMixes<Nanoseconds, Bytes> && !kMixes<int64_t, Nanoseconds>);
static_assert(!kMixes<Bytes, EstimatedBytes> && !kMixes<EstimatedBytes, Bytes> && !kMixes<double, EstimatedBytes>);
static_assert(!kMixes<double, EstimatedTime> && !kMixes<EstimatedTime, Nanoseconds> && !kMixes<EstimatedTime, EstimatedBytes>);
static_assert(!std::is_convertible_v<std::chrono::milliseconds, int64_t> && kMixes<std::chrono::milliseconds, Nanoseconds>,
              "other units of time become nanoseconds, by their factor");
static_assert(sizeof(Bytes) == sizeof(int64_t) && std::is_trivially_copyable_v<Bytes>, "a number in a register");

template <class A, class B>
constexpr bool kAdds = requires(A a, B b) {
  a + b;
};
template <class A, class B>
constexpr bool kCompares = requires(A a, B b) {
  a < b;
};
static_assert(kAdds<Bytes, Bytes> && !kAdds<Bytes, int64_t> && !kAdds<Bytes, Chunks> && !kAdds<Bytes, EstimatedBytes>);
static_assert(kCompares<Bytes, Bytes> && !kCompares<Bytes, int64_t> && !kCompares<Bytes, Chunks>);

// Signatures in which two arguments were of one type, or of two that convert, while their units differ.
static_assert(!std::is_invocable_v<decltype(&CallCosts::of_windows), CallCosts, int64_t, Bytes, EstimatedBytes>);
static_assert(!std::is_invocable_v<decltype(&CallCosts::of_windows), CallCosts, int64_t, double, int64_t>);
static_assert(!std::is_invocable_v<decltype(&check_headroom), std::string_view, int, int64_t>);
static_assert(!std::is_invocable_v<decltype(&PartitionLayout::most_scratch_bytes), int64_t, int, const ExecutionLimits&>);
static_assert(!std::is_invocable_v<decltype(&ThreadPool::run), ThreadPool&, int, Chunks, Nanoseconds, Executor::Task, void*>);
static_assert(!std::is_constructible_v<Team, Executor&, Nanoseconds, int>);

TEST(Units, Compute) {
  Bytes bytes = Bytes(6) + Bytes(4) - Bytes(2);
  bytes += Bytes(1);
  EXPECT_EQ(bytes, Bytes(9));
  EXPECT_EQ((bytes * 2).count(), 18);
  EXPECT_EQ(bytes / 2, Bytes(4));
  EXPECT_EQ(bytes / Bytes(4), 2);
  EXPECT_LT(Bytes(), bytes);
  EXPECT_EQ(estimated(bytes) / EstimatedBytes(2), 4.5);
}

TEST(Units, EstimatesBecomeIntegersThatHoldThem) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(whole(2.9, 10), 2);
  EXPECT_EQ(whole(1e30, 10), 10);
  EXPECT_EQ(whole(-1, 10), 0);
  EXPECT_EQ(whole(kNone, 10), 0);
  EXPECT_EQ(whole_ns(2.9), Nanoseconds(2));
  EXPECT_EQ(whole_ns(1e30), whole_ns(kNone));
}

}  // namespace
}  // namespace strew
