// Scratch is allocated once and lent again, loans held side by side never share memory, and a block outgrown is replaced, not kept.
#include "runtime/call/scratch.h"

#include <gtest/gtest.h>

#include <cstring>

namespace strew::inline v0 {

/// What a forked child finds if a thread that it does not have held the lock.
struct ScratchLock {
  static bool take(Scratch& scratch) { return scratch.lock(); }
};

}  // namespace strew::inline v0

namespace strew {
namespace {

TEST(Scratch, LendsTheSameBlockAgain) {
  Scratch scratch;
  char* first = nullptr;
  {
    const Scratch::Loan loan = scratch.borrow(1000);
    ASSERT_TRUE(loan);
    first = loan.data();
    std::memset(first, 1, 1000);
  }
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
  EXPECT_EQ(scratch.borrow(1000).data(), first);
  EXPECT_EQ(scratch.borrow(10).data(), first);
}

TEST(Scratch, LoansSideBySideAreApart) {
  Scratch scratch;
  const Scratch::Loan a = scratch.borrow(256), b = scratch.borrow(256);
  std::memset(a.data(), 1, 256);
  std::memset(b.data(), 2, 256);
  EXPECT_EQ(a.data()[255], 1);
  EXPECT_EQ(b.data()[0], 2);
}

TEST(Scratch, GrowsAndServesHugeBlocks) {
  Scratch scratch;
  for (int64_t bytes = 64; bytes <= int64_t{64} << 20; bytes *= 4) {
    const Scratch::Loan loan = scratch.borrow(bytes);
    ASSERT_TRUE(loan) << bytes;
    loan.data()[0] = loan.data()[bytes - 1] = 1;
  }
}

TEST(Scratch, LendsWithoutItsLock) {
  Scratch scratch;
  { const Scratch::Loan loan = scratch.borrow(100); }
  ASSERT_TRUE(ScratchLock::take(scratch));
  const Scratch::Loan a = scratch.borrow(256), b = scratch.borrow(int64_t{8} << 20);
  ASSERT_TRUE(a && b);
  std::memset(a.data(), 1, 256);
  std::memset(b.data(), 2, size_t{8} << 20);
}

TEST(Scratch, KeepsABlockForEachCallSideBySide) {
  Scratch scratch;
  char* first = nullptr;
  char* second = nullptr;
  {
    const Scratch::Loan a = scratch.borrow(1000), b = scratch.borrow(1000);
    first = a.data();
    second = b.data();
  }
  const Scratch::Loan a = scratch.borrow(1000), b = scratch.borrow(1000);
  EXPECT_TRUE((a.data() == first && b.data() == second) || (a.data() == second && b.data() == first));
}

}  // namespace
}  // namespace strew
