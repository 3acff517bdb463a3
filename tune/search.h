// Search: looks for the fastest variant of one op, wave by wave, so that ops can share a budget and a run can be stopped at any time.
//
// A wave takes a few variants that have not been measured, and measures them in turns with the default and the fastest one so far. After
// three, eight and seventeen rounds, those that are slower than the fastest beyond doubt are left out, and of the others the slower
// half. Which variants a wave takes: first the cheapest by the cost model of each strategy and backend; then the neighbours of the
// fastest one; then, where these are exhausted, others at random. confirm() compares the three fastest with the default again, in
// rounds of their own, because the fastest of many is also the luckiest. The one that wins them is measured once more beside the default, and
// wins only if it is faster there, too.
//
// All decisions follow from the seed and from what the stopwatch tells. Tested by tests/unit/tune/search_test.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "tune/search_space.h"
#include "tune/stopwatch.h"
#include "tune/tuning_result.h"

namespace strew::inline v0 {

enum class SearchMode : uint8_t {
  estimate,    ///< measures nothing: the cost model decides
  measure,     ///< until two waves in a row have found nothing faster
  exhaustive,  ///< all listed variants
};
inline constexpr std::string_view kSearchModes[] = {"estimate", "measure", "exhaustive"};
constexpr std::string_view name(SearchMode mode) { return kSearchModes[static_cast<size_t>(mode)]; }

struct SearchSettings {
  SearchMode mode = SearchMode::measure;
  uint64_t seed = 1;
  std::function<bool()> stop = [] { return false; };  ///< asked between samples; true ends the search
};

class Search {
 public:
  /// `known`: what was measured before; these variants are not measured again, but for the fastest one, which is confirmed. `space` must
  /// live as long as the search.
  Search(const SearchSpace& space, SearchSettings settings, const std::vector<TunedCandidate>& known = {});

  bool is_done() const { return is_done_; }
  /// Measures one wave. Stops before `deadline`, in the stopwatch's seconds. Fails if the default cannot be measured.
  Status wave(Stopwatch& watch, double deadline);
  /// Compares the fastest variants with the default, and decides on the winner. Leaves the default if `deadline` is too near; then the op is
  /// undecided. A default that waves have measured often enough is confirmed all the same: its time is known, whatever the others' are.
  Status confirm(Stopwatch& watch, double deadline);

  /// In the order in which they were tried; the default comes first.
  const std::vector<TunedCandidate>& candidates() const { return candidates_; }
  size_t best_at() const { return best_; }  ///< the fastest so far, which may be the default
  /// What confirm() decided: the default, unless another one is faster beyond noise.
  size_t winner_at() const { return winner_; }
  /// Did confirm() end before kLeastConfirmRounds rounds, or before as many of a winner's second look, although variants looked faster than the
  /// default? Then: how many it made.
  std::optional<int> undecided_after() const { return undecided_after_; }
  static constexpr int kLeastConfirmRounds = 7;  ///< with fewer, nothing is confirmed
  /// By how much the last wave improved on the fastest before it, 0..1; 1 before the first wave.
  double last_gain() const { return last_gain_; }
  /// Numbers in candidates() of those that the last wave or confirm() measured.
  const std::vector<size_t>& last_measured() const { return last_measured_; }

  /// Is the candidate faster than the default beyond noise, and by enough to be worth another schedule?
  static bool is_faster(const TunedCandidate& candidate);

 private:
  struct Times;
  class HostLoad;
  size_t add(const Variant& variant);
  bool is_tried(const Variant& variant) const;
  std::vector<Variant> next_batch();
  std::vector<size_t> prepare(Stopwatch& watch, const std::vector<Variant>& batch, double deadline);
  bool run_rounds(Stopwatch& watch, const std::vector<size_t>& running, int rounds, double deadline, std::vector<Times>& times);
  void note(const std::vector<size_t>& running, const std::vector<Times>& times, bool is_busy);
  Status decide(Stopwatch& watch, double deadline);
  Expected<bool> holds(Stopwatch& watch, size_t at, double deadline);
  void eliminate(Stopwatch& watch, std::vector<size_t>& running, std::vector<Times>& times);
  std::vector<size_t> finalists() const;
  bool is_ending(Stopwatch& watch, double deadline) const;
  uint64_t random();

  const SearchSpace* space_;
  SearchSettings settings_;
  std::vector<TunedCandidate> candidates_;
  std::vector<size_t> last_measured_;
  size_t best_ = 0, winner_ = 0;
  int idle_waves_ = 0;
  double last_gain_ = 1;
  uint64_t random_state_;
  bool is_done_ = false;
  std::optional<int> undecided_after_;
};

}  // namespace strew::inline v0
