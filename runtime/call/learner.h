// Learner: a kernel that is called often finds out which of the ways in which it can run a call is the fastest: by which of its strategies, and
// with which stores. The kernel has all of them already, and all give the same bits; nothing is compiled. The estimates
// (strategies/strategy.cc) say which are worth trying: those within twice the time of the best.
//
// What a call finds in the caches depends on how the calls before it stored. So a way is tried for a block of calls, which together move twice the
// last-level cache, and the second half of a block counts. Blocks of the way in use and of the way on trial take turns, and OnlineSearch
// compares them. A few calls of a block are timed; each stands for those before it. Trials may cost kRegret of the time of all calls. When
// all ways were tried, the kernel keeps the fastest, and tries again when it has been in use for several times as long.
//
// Calls of other extents are other calls: those of one class, in which each extent is within a factor of two, share a Lesson. Tested by
// tests/unit/runtime/call/learner_test.cc; what it gains by `./dev bench threads`.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "base/quantiles.h"
#include "runtime/call/call.h"
#include "runtime/call/online_search.h"
#include "strew/bad_index.h"
#include "strew/status.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

class Callable;
struct ApplyCall;

/// The part of all calls' time that trials may cost.
inline constexpr double kRegret = 0.005;

/// What the calls of a runtime have learned so far. Times are estimates of all calls, made from those that were timed.
struct LearningCounts {
  std::atomic<uint64_t> trials{0};   ///< blocks of calls that were run another way than the one in use
  std::atomic<uint64_t> changes{0};  ///< ways that took the place of the one in use
  std::atomic<double> total_ns{0};   ///< of the calls that could have been run in several ways
  std::atomic<double> regret_ns{0};  ///< that trials took longer than the way in use
};

/// How to run a call.
struct CallWay {
  int16_t strategy = -1;  ///< STREW_STRATEGY_...; -1: what choose_strategy() takes
  bool streams = false;   ///< by the entry stream
  friend bool operator==(const CallWay&, const CallWay&) = default;
};

/// What the calls of a kernel have found out, when a search is over: the fastest way, or that the first is the fastest again.
struct LessonOutcome {
  CallWay first, other;  ///< what calls would take that do not learn, and the fastest: now, or until this search
  int threads = 1;       ///< that a call may use
  int trials = 0;        ///< blocks of calls, of all searches
  /// Of the other's time to that of the first: the product of the ratios by which each way took the place of the one before. Above 1 if the first is
  /// the fastest again.
  MedianRange ratio{1, 1, 1};
};
/// Called by the call that ended a search, if it ended with another way than the search before it. May not throw.
using KeepLesson = std::function<void(const LessonOutcome& outcome)>;

/// The ways of calls of one class, and what is known of them.
class Lesson {
 public:
  static constexpr size_t kMostWays = 8;
  struct Ways {
    std::array<CallWay, kMostWays> list;  ///< the first is what calls would take that do not learn
    size_t count = 0;
  };

  /// `block_calls`: how many calls move twice the last-level cache. `keep` may be null or empty, and outlives the
  /// lesson. `threads`: that a call may use.
  Lesson(const Ways& ways, double block_calls, LearningCounts* counts, const KeepLesson* keep = nullptr, int threads = 1);

  bool has_choice() const { return ways_.count > 1; }
  /// How to run the next call.
  CallWay way() const { return way_.load(std::memory_order_relaxed); }
  /// Is the call to be timed that the thread counted last?
  bool is_due() const;
  /// A call that was timed took so long. `alone`: what the estimates say of it, by which calls of several sizes are compared.
  void add(CallWay way, double nanoseconds, double alone);
  bool has_settled() const { return has_settled_.load(std::memory_order_relaxed); }

 private:
  struct Block {
    bool is_trial = false;
    double calls = 0, length = 0;              ///< so far, and of the whole block
    double samples = 0, ratio = 0, alone = 0;  ///< sums over the calls that were timed in its second half
  };
  void end_block();
  void settle();
  void begin_block(double call_ns);
  bool are_other_calls(double ratio);
  void start_again();

  Ways ways_;
  const double block_calls_;
  LearningCounts* const counts_;
  const KeepLesson* const keep_;
  std::atomic<CallWay> way_;
  /// A call whose number, times the golden ratio, is at most this is timed: one of every_ calls.
  std::atomic<uint32_t> most_due_{~uint32_t{0}};
  std::atomic<bool> has_settled_{false};
  std::mutex mutex_;    ///< of what follows; a call that finds it locked is not counted
  uint32_t every_ = 1;  ///< one of so many calls is timed
  OnlineSearch search_;
  Block block_;
  double rest_ns_ = 0;        ///< of calls before the search starts again
  double searched_ns_ = 0;    ///< search_.total_ns() when the search started
  double settled_ratio_ = 0;  ///< of times to estimates, of the first block after the search; 0: none yet
  int changed_ = 0;           ///< blocks in a row whose ratio was another one
  LessonOutcome outcome_;     ///< of the searches that are over
};

class Learner {
 public:
  /// Null if calls of the kernel have no choice or must not learn.
  static std::unique_ptr<Learner> make(const Callable& callable);
  ~Learner();
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  /// From now on `keep` is told what calls learn. Before the first call.
  void keep_with(KeepLesson keep) { keep_ = std::move(keep); }
  bool keeps() const { return keep_ != nullptr; }

  /// Every call is counted, by the thread that makes it, before it is run or decided.
  static void count_call();
  /// Runs a bound call whose executor and threads are set, and whose stores are what it would take if it did not learn.
  Status run(const Callable& callable, std::span<const TensorView> tensors, Call& call, BadIndex* bad_index);
  /// For calls of a kernel whose extents are all known, which one thread runs without phases: sets their stores, in a few nanoseconds. Returns
  /// false if run() has to be called, because it is not known yet how they can run, or because the call has to be timed. Calls that are not
  /// counted run as soon as the search is over, and are never timed.
  bool decides_stores(Call& call, bool is_counted) const;

 private:
  struct Slot {
    std::atomic<uint64_t> key{0};  ///< of the class; 0: none yet
    std::atomic<Lesson*> lesson{nullptr};
  };
  static constexpr size_t kClasses = 8;  ///< calls of further classes do not learn

  explicit Learner(LearningCounts* counts) : counts_(counts) {}
  Lesson* lesson_of(const Callable& callable, std::span<const TensorView> tensors, const Call& call);
  Lesson* new_lesson(const Callable& callable, std::span<const TensorView> tensors, const Call& call) const;

  LearningCounts* const counts_;
  KeepLesson keep_;
  std::array<Slot, kClasses> slots_;
};

}  // namespace strew::inline v0
