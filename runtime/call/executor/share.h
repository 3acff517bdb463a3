// Share: the chunks of a phase that are assigned to one thread, its owner. The owner takes chunks from the front;
// threads that have finished their own share steal from the back. Each share is on cache lines of its own, so until
// somebody steals, its owner shares no line with other threads. Tested by tests/unit/runtime/call/executor/share_test.cc.
#pragma once

#include <atomic>
#include <cstdint>

namespace strew::inline v0 {

class alignas(128) Share {  // two lines, because processors fetch them in pairs
 public:
  /// Sets the chunks to [begin, end). Must be called before other threads can see the share.
  void set(int begin, int end) { left_.store(pack(begin, end), std::memory_order_relaxed); }
  /// Take a chunk, which no other thread gets, from the front or from the back. -1: none is left.
  int take_first() {
    uint64_t left = left_.load(std::memory_order_relaxed);
    while (begin_of(left) < end_of(left))
      if (left_.compare_exchange_weak(left, left + 1, std::memory_order_relaxed)) return begin_of(left);
    return -1;
  }
  int take_last() {
    uint64_t left = left_.load(std::memory_order_relaxed);
    while (begin_of(left) < end_of(left))
      if (left_.compare_exchange_weak(left, left - (uint64_t{1} << 32), std::memory_order_relaxed)) return end_of(left) - 1;
    return -1;
  }

 private:
  static uint64_t pack(int begin, int end) { return static_cast<uint64_t>(end) << 32 | static_cast<uint32_t>(begin); }
  static int begin_of(uint64_t left) { return static_cast<int>(left & 0xffffffff); }
  static int end_of(uint64_t left) { return static_cast<int>(left >> 32); }

  std::atomic<uint64_t> left_{0};
};

}  // namespace strew::inline v0
