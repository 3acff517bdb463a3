// The tests' own watchdogs: overruns, underruns and writes to inputs are caught; canaries and NaN rules say what they should.
#include "tests/support/guarded.h"

#include <array>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/elements.h"

namespace strew::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A write the compiler cannot see through.
void poke(std::byte* at, ptrdiff_t offset) { *static_cast<volatile std::byte*>(at + offset) = std::byte{1}; }

TEST(GuardedBuffer, OverrunOfAFlushEndIsCaught) {
  GuardedPool pool;
  GuardedBuffer& buffer = pool.take(100, Flush::end, "updates 0");
  EXPECT_FALSE(catch_fault([&] { poke(buffer.writable(), 99); }).faulted);
  const Caught caught = catch_fault([&] { poke(buffer.writable(), 100); });
  ASSERT_TRUE(caught.faulted);
  EXPECT_EQ(caught.signal, SIGSEGV);
  EXPECT_EQ(pool.describe(caught.address), "updates 0 (writable view), byte 100 of 100");
}

TEST(GuardedBuffer, UnderrunOfAFlushBeginIsCaught) {
  GuardedPool pool;
  GuardedBuffer& buffer = pool.take(100, Flush::begin, "result 0");
  EXPECT_FALSE(catch_fault([&] { poke(buffer.writable(), 0); }).faulted);
  const Caught caught = catch_fault([&] { poke(buffer.writable(), -1); });
  ASSERT_TRUE(caught.faulted);
  EXPECT_EQ(pool.describe(caught.address), "result 0 (writable view), byte -1 of 100");
}

TEST(GuardedBuffer, EveryByteOfAnEmptyBufferIsOut) {
  GuardedPool pool;
  EXPECT_TRUE(catch_fault([&, &b = pool.take(0, Flush::end, "empty")] { poke(b.writable(), 0); }).faulted);
}

TEST(GuardedBuffer, InputsAreReadOnlyAndShowWhatWasWritten) {
  GuardedPool pool;
  GuardedBuffer& buffer = pool.take(8, Flush::end, "indices 0");
  poke(buffer.writable(), 3);
  EXPECT_EQ(buffer.read_only()[3], std::byte{1});
  EXPECT_TRUE(catch_fault([&] { poke(buffer.read_only(), 3); }).faulted);
}

TEST(GuardedPool, ReusesMappingsOnlyAfterRelease) {
  GuardedPool pool;
  std::byte* first = pool.take(64, Flush::begin, "a").writable();
  EXPECT_NE(pool.take(64, Flush::begin, "b").writable(), first);
  pool.release_all();
  EXPECT_EQ(pool.take(64, Flush::begin, "c").writable(), first);
}

/// The trap is what is tested; a sanitizer would stop the program before it.
[[gnu::noinline, gnu::no_sanitize("undefined")]] int divide(int a, int b) { return a / b; }

TEST(CatchFault, ReportsDivisionByZero) {
  const Caught caught = catch_fault([&] {
    volatile int zero = 0;
    volatile int result = divide(7, zero);
    (void)result;
  });
#if defined(__x86_64__)
  EXPECT_TRUE(caught.faulted);
  EXPECT_EQ(caught.signal, SIGFPE);
#else
  (void)caught;
#endif
}

TEST(Elements, PackedNeighboursAreKept) {
  std::array<std::byte, 2> bytes{std::byte{0xab}, std::byte{0xcd}};
  store_element(bytes.data(), {DType::u4, {0x5, 0}}, 1);
  EXPECT_EQ(bytes[0], std::byte{0x5b});
  EXPECT_EQ(bytes[1], std::byte{0xcd});
  EXPECT_EQ(load_element(bytes.data(), DType::u4, 2).bits[0], 0xdu);
  EXPECT_EQ(load_element(bytes.data() + 1, DType::u4, -1).bits[0], 0x5u);
}

TEST(Elements, NumbersFollowStrides) {
  const std::array<int64_t, 2> dims{2, 3}, strides{-3, 2};
  EXPECT_THAT(element_numbers(dims, strides), ElementsAre(0, 2, 4, -3, -1, 1));
}

TEST(Elements, ByteExtentCoversNegativeStridesAndNothingElse) {
  const Extent extent = byte_extent({DType::i16, {2, 3}, {-10, 2}});
  EXPECT_EQ(extent.first, -20);
  EXPECT_EQ(extent.end, 10);
  EXPECT_EQ(byte_extent({DType::i16, {0, 3}, {}}).end, 0);
  EXPECT_EQ(byte_extent({DType::u4, {3}, {}}).end, 2);
}

TEST(SameValue, AnyTwoNaNsAndNothingElse) {
  const Scalar quiet{DType::f32, {0x7fc00000, 0}}, other{DType::f32, {0xffc00001, 0}}, infinity{DType::f32, {0x7f800000, 0}};
  EXPECT_TRUE(same_value(quiet, other));
  EXPECT_FALSE(same_value(quiet, infinity));
  EXPECT_FALSE(same_value({DType::f32, {0, 0}}, {DType::f32, {0x80000000, 0}}));
  const Scalar z{DType::complex64, {0x7fc00000'3f800000, 0}}, w{DType::complex64, {0xffc00000'3f800000, 0}};
  EXPECT_TRUE(same_value(z, w));
  EXPECT_FALSE(same_value(z, {DType::complex64, {0xffc00000'3f800001, 0}}));
}

TEST(IsNan, KnowsEveryKindOfCodes) {
  EXPECT_TRUE(is_nan(DType::f8e4m3fn, 0x7f));
  EXPECT_FALSE(is_nan(DType::f8e4m3fn, 0x7e));
  EXPECT_TRUE(is_nan(DType::f8e4m3fnuz, 0x80));
  EXPECT_FALSE(is_nan(DType::f8e4m3fnuz, 0xff));
  EXPECT_TRUE(is_nan(DType::f8e5m2, 0x7d));
  EXPECT_FALSE(is_nan(DType::f8e5m2, 0x7c));
  EXPECT_FALSE(is_nan(DType::f4e2m1, 0xf));
  EXPECT_TRUE(is_nan(DType::f8e8m0, 0xff));
}

}  // namespace
}  // namespace strew::test
