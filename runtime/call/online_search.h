// OnlineSearch: the decisions of online tuning (tune/tuned_kernel.cc, runtime/call/learner.h), without kernels and clocks: which candidate is
// tried next, whether the next call may be a trial, and when the search is over.
//
// Trials cost time where a candidate is slower than the kernel in use. The sum of that, the regret, is kept below a part of the time
// that all calls have taken: a trial of a candidate of which nothing is known counts as one that takes twice as long. A trial is compared
// with the call of the kernel in use before it, if that had the same shapes. A candidate that is faster beyond noise takes the
// place of the kernel in use; one that is slower beyond noise, or as fast, is dropped. Tested by
// tests/unit/runtime/call/online_search_test.cc.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/quantiles.h"

namespace strew::inline v0 {

class OnlineSearch {
 public:
  /// Candidates have the numbers 1..candidates; 0 is the default. `regret`: the part of the time that trials may cost, 0..1.
  OnlineSearch(size_t candidates, double regret) : candidates_(candidates), regret_(regret) { is_settled_ = candidates == 0; }
  /// Begins after `before`, whose time and regret count as its own.
  OnlineSearch(size_t candidates, const OnlineSearch& before) : OnlineSearch(candidates, before.regret_) {
    total_ = before.total_;
    spent_ = before.spent_;
  }

  /// The kernel in use.
  size_t best() const { return best_; }
  /// The candidate to make ready; 0 once the search is over.
  size_t next() const { return is_settled_ ? 0 : next_; }
  bool is_settled() const { return is_settled_; }
  /// May the next so many calls be a trial of next()?
  bool may_try(double calls = 1) const;

  /// A call of the kernel in use took that long. `shape`: a hash of the extents of its tensors. `calls`: how many calls this one stands for.
  void add_call(double nanoseconds, uint64_t shape, double calls = 1);
  /// A trial took that long: of one call, or on average of so many in a row.
  void add_trial(double nanoseconds, uint64_t shape, double calls = 1);
  /// next() cannot be tried: it could not be built.
  void skip();

  double total_ns() const { return total_; }
  double regret_ns() const { return spent_; }
  uint64_t trials() const { return trials_; }
  /// Of the kernel in use to the default: the product of the ratios by which each took the place of the one before.
  const MedianRange& ratio() const { return ratio_; }

 private:
  void decide();
  void go_on();

  size_t candidates_, best_ = 0, next_ = 1;
  double regret_, total_ = 0, spent_ = 0;
  double last_ = 0;  ///< nanoseconds of the last call of the kernel in use
  uint64_t last_shape_ = 0, trials_ = 0;
  std::vector<double> ratios_;  ///< of next()
  size_t unused_ = 0;           ///< trials of next() that could not be compared
  MedianRange ratio_{1, 1, 1};
  bool is_settled_ = false;
};

/// Nanoseconds since some moment: the clock by which kernels are compared whose calls are timed one by one, between a program's other calls.
/// Stores that bypass the caches leave the store buffer and the write-combining buffers long after the call that made them has returned, and
/// delay the next call, of which nobody takes the time: a call of 16 KiB looked twice as fast as it was. So the clock is read when all stores
/// before it are done.
inline double call_clock() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What timing a call takes longer than the call, about.
inline constexpr double kCallClockNanoseconds = 100;

}  // namespace strew::inline v0
