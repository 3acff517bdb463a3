// Scratch: memory that calls of one kernel borrow. Allocated by the first call that needs it, kept until the kernel goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace strew {

class Scratch {
  struct Block {
    char* data = nullptr;
    size_t bytes = 0;
  };

 public:
  /// What one call has borrowed; gives it back when it ends.
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

  /// At least `bytes` of it, on a line of its own; false when there is no memory. Thread-safe.
  Loan borrow(int64_t bytes);

 private:
  void give(Block block);

  std::mutex mutex_;  // guards blocks_
  std::vector<Block> blocks_;
};

}  // namespace strew
