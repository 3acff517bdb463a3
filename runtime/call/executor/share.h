// Share: the chunks of a phase that one thread begins with. Its owner takes them from the front, threads that have nothing left take them from
// the back. Each share lies on cache lines of its own, so an owner that nobody helps shares no line with other threads.
#pragma once

#include <atomic>
#include <cstdint>

namespace strew::inline v0 {

class alignas(128) Share {  // two lines, because processors fetch them in pairs
 public:
  /// Chunks [begin, end). Before the threads that take from it know of it.
  void set(int begin, int end) { left_.store(pack(begin, end), std::memory_order_relaxed); }
  /// A chunk that nobody else gets, or -1: none is left.
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
