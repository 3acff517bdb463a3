// Scratch: memory that the calls of one kernel borrow. It is allocated by the first call that needs it and kept as long as the kernel.
// In the child of a fork that happened while another thread lent or took back a block, calls allocate blocks of their own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/machine.h"

namespace strew::inline v0 {

/// So many bytes in whole cache lines, and one line more, so that a prefetch of adjacent lines never reaches what lies behind.
constexpr int64_t padded_bytes(int64_t bytes) { return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes + kLineBytes; }

class Scratch {
  struct Block {
    char* data = nullptr;
    size_t bytes = 0;
  };

 public:
  /// The block that a call has borrowed; the destructor gives it back.
  class Loan {
   public:
    Loan(Scratch& owner, Block block) : owner_(owner), block_(block) {}
    ~Loan() { owner_.give(block_); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

    explicit operator bool() const { return block_.data != nullptr; }
    char* data() const { return block_.data; }

   private:
    Scratch& owner_;
    Block block_;
  };

  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  /// Borrows at least `bytes` bytes, at the start of a cache line. The loan is false if no memory can be allocated. Thread-safe.
  Loan borrow(int64_t bytes);

 private:
  friend struct ScratchLock;  // tests/unit/runtime/call/scratch_test.cc
  struct Free;
  void give(Block block) noexcept;
  bool lock();

  std::atomic<bool> locked_{false};  // guards free_
  Free* free_ = nullptr;  ///< blocks that are not lent, a list through their first bytes: giving one back allocates nothing
};

}  // namespace strew::inline v0
