// call_clock(): the clock by which kernels are compared whose calls are timed one by one, between a program's other calls (runtime/call/learner.h,
// tune/tuned_kernel.cc). Stores that bypass the caches leave the store buffer and the write-combining buffers long after the call that made them
// has returned, and delay the next call, of which nobody takes the time: a call of 16 KiB looked twice as fast as it was. So the clock is read
// when all stores before it are done.
#pragma once

#include <atomic>
#include <chrono>

namespace strew::inline v0 {

/// Nanoseconds since some moment.
inline double call_clock() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What timing a call takes longer than the call, about.
inline constexpr double kCallClockNanoseconds = 100;

}  // namespace strew::inline v0
