// Threads for the hand-written kernels: workers that spin for as long as the pool is awake. It is put to sleep while others are timed, so
// that its workers and strew's never fight for a core.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

namespace strew::bench {

class HandPool {
 public:
  ~HandPool() { sleep(); }

  void wake(int threads) {
    if (!workers_.empty()) return;
    quit_ = false;
    for (int id = 1; id < threads; ++id) workers_.emplace_back([this, id, seen = epoch_.load()]() mutable { work(id, seen); });
  }
  void sleep() {
    quit_ = true;
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
  }

  /// f(thread) for each of `threads`; the caller is thread 0, and all of them while the pool sleeps.
  template <class F>
  void run(int threads, F&& f) {
    if (threads <= 1 || static_cast<int>(workers_.size()) < threads - 1) {
      for (int id = 0; id < threads; ++id) f(id);
      return;
    }
    function_ = [](void* context, int id) { (*static_cast<std::remove_reference_t<F>*>(context))(id); };
    context_ = const_cast<void*>(static_cast<const void*>(&f));
    left_.store(threads - 1, std::memory_order_relaxed);
    epoch_.fetch_add(1, std::memory_order_release);
    f(0);
    while (left_.load(std::memory_order_acquire) > 0) relax();
  }

 private:
  static void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  void work(int id, uint32_t seen) {
    while (!quit_.load(std::memory_order_relaxed)) {
      const uint32_t epoch = epoch_.load(std::memory_order_acquire);
      if (epoch == seen) {
        relax();
        continue;
      }
      seen = epoch;
      function_(context_, id);
      left_.fetch_sub(1, std::memory_order_release);
    }
  }

  alignas(64) std::atomic<uint32_t> epoch_{0};
  alignas(64) std::atomic<int> left_{0};
  std::atomic<bool> quit_{false};
  void (*function_)(void*, int) = nullptr;
  void* context_ = nullptr;
  std::vector<std::thread> workers_;
};

inline HandPool& hand_pool() {
  static HandPool pool;
  return pool;
}

}  // namespace strew::bench
