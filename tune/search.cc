// See search.h.
#include "tune/search.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/run_queue.h"
#include "tune/turns.h"

namespace strew::inline v0 {
namespace {

constexpr size_t kWaveSize = 8;                         ///< new variants of a wave
constexpr int kRungs[] = {3, 5, 9};                     ///< rounds between eliminations
constexpr int kConfirmPlaces = 3, kConfirmRounds = 13;  ///< places of the data, and rounds for each
constexpr double kForConfirmRounds = 0.8;               ///< of the time that confirm() has; the rest is for second looks
constexpr int kEnoughRounds = 17;                       ///< of the default, after which it is confirmed without confirm()
constexpr size_t kFinalists = 3;                        ///< that are confirmed
constexpr double kNear = 1.1;       ///< a variant this close to the fastest is never left out before the last rung
constexpr double kWins = 0.97;      ///< a winner's time over the default's is at most this
constexpr double kImproves = 0.99;  ///< a wave that gains less than this counts as idle
constexpr int kIdleWaves = 2;       ///< of mode measure, until it ends
constexpr size_t kRandom = 2;       ///< variants of a wave that are taken at random, where there are enough

TunedCandidate candidate_of(const Variant& variant, double predicted) {
  TunedCandidate out;
  out.backend = variant.backend;
  out.schedule = variant.schedule;
  out.predicted_ns = predicted;
  return out;
}

Variant variant_of(const TunedCandidate& candidate) { return {candidate.backend, candidate.schedule}; }

}  // namespace

/// Of one candidate in one wave: times, and ratios to the default's in the same round.
struct Search::Times {
  std::vector<double> nanoseconds, ratios;
};

/// Whether anything else has kept our threads from the cores since it was made.
class Search::HostLoad {
 public:
  explicit HostLoad(Stopwatch& watch) : watch_(watch), begin_(watch.seconds()), waited_(watch.waited_seconds()) {}
  [[nodiscard]] bool is_busy() const { return watch_.waited_seconds() - waited_ > kMostWaiting * (watch_.seconds() - begin_); }

 private:
  Stopwatch& watch_;
  double begin_, waited_;
};

Search::Search(const SearchSpace& space, SearchSettings settings, const std::vector<TunedCandidate>& known)
    : space_(&space), settings_(std::move(settings)), random_state_(settings_.seed) {
  add(space.standard());
  for (const TunedCandidate& each : known) {
    if (is_tried(variant_of(each))) continue;
    candidates_.push_back(each);
    if (each.is_measured && each.ratio < candidates_[best_].ratio) best_ = candidates_.size() - 1;
  }
  if (settings_.mode != SearchMode::estimate) return;
  for (const ListedVariant& each : space.listed())
    if (!is_tried(each.variant)) add(each.variant);
  is_done_ = true;
}

size_t Search::add(const Variant& variant) {
  candidates_.push_back(candidate_of(variant, space_->predict(variant)));
  return candidates_.size() - 1;
}

bool Search::is_tried(const Variant& variant) const {
  return std::any_of(candidates_.begin(), candidates_.end(),
                     [&](const TunedCandidate& each) { return variant_of(each) == variant; });
}

uint64_t Search::random() {  // splitmix64
  uint64_t z = random_state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::vector<Variant> Search::next_batch() {
  std::vector<Variant> batch;
  const auto take = [&](const Variant& variant) {
    const bool is_new = !is_tried(variant) && std::find(batch.begin(), batch.end(), variant) == batch.end();
    if (is_new && batch.size() < kWaveSize) batch.push_back(variant);
  };
  const std::vector<ListedVariant>& listed = space_->listed();
  if (settings_.mode == SearchMode::exhaustive) {
    for (const ListedVariant& each : listed) take(each.variant);
    return batch;
  }
  const bool is_first =
      std::none_of(candidates_.begin(), candidates_.end(), [](const TunedCandidate& c) { return c.is_measured; });
  if (is_first) {
    // The model may be wrong about a strategy, so the best of each is looked at.
    std::vector<std::pair<BackendChoice, Strategy>> kinds;
    for (const auto& [variant, predicted] : listed) {
      const std::pair kind(variant.backend, variant.schedule.strategy);
      if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) continue;
      kinds.push_back(kind);
      take(variant);
    }
  } else {
    std::vector<Variant> near = space_->neighbours(variant_of(candidates_[best_]));
    for (size_t i = near.size(); i > 1; --i) std::swap(near[i - 1], near[random() % i]);
    for (const Variant& variant : near)
      if (batch.size() + kRandom < kWaveSize) take(variant);
    for (size_t tries = 0; tries < 4 * kRandom && !listed.empty(); ++tries) take(listed[random() % listed.size()].variant);
  }
  for (const ListedVariant& each : listed) take(each.variant);
  return batch;
}

bool Search::is_ending(Stopwatch& watch, double deadline) const { return settings_.stop() || watch.seconds() >= deadline; }

std::vector<size_t> Search::prepare(Stopwatch& watch, const std::vector<Variant>& batch, double deadline) {
  std::vector<size_t> running = {0};
  if (best_ != 0) running.push_back(best_);
  // Where it takes long to make candidates ready, there are fewer, so that time is left to measure them.
  const double enough = watch.seconds() + (deadline - watch.seconds()) / 2;
  for (const Variant& variant : batch) {
    if (is_ending(watch, running.size() > 1 ? enough : deadline)) break;
    const size_t at = add(variant);
    const Status status = watch.prepare(variant);
    if (status.ok()) {
      running.push_back(at);
    } else {
      candidates_[at].remark = status.message();
    }
  }
  return running;
}

bool Search::run_rounds(Stopwatch& watch, const std::vector<size_t>& running, int rounds, double deadline,
                        std::vector<Times>& times) {
  std::vector<double> round_times(running.size());
  for (int round = 0; round < rounds; ++round) {
    const double begin = watch.seconds();
    for (size_t i = 0; i < running.size(); ++i) {
      if (is_ending(watch, deadline)) return false;
      const size_t at = (i + static_cast<size_t>(round)) % running.size();
      round_times[at] = watch.sample(variant_of(candidates_[running[at]]));
    }
    for (size_t i = 0; i < running.size(); ++i) {
      times[i].nanoseconds.push_back(round_times[i]);
      times[i].ratios.push_back(round_times[i] / round_times[0]);
    }
    // A round that would not end in time is not begun.
    const double now = watch.seconds();
    if (now + (now - begin) > deadline) return false;
  }
  return true;
}

void Search::note(const std::vector<size_t>& running, const std::vector<Times>& times, bool is_busy) {
  for (size_t i = 0; i < running.size(); ++i) {
    if (times[i].ratios.empty()) continue;
    TunedCandidate& candidate = candidates_[running[i]];
    const MedianRange ratio = median_range(times[i].ratios);
    candidate.is_measured = true;
    candidate.is_busy = is_busy;
    candidate.rounds = static_cast<int>(times[i].ratios.size());
    candidate.nanoseconds = median(times[i].nanoseconds);
    candidate.ratio = ratio.median;
    candidate.ratio_low = ratio.low;
    candidate.ratio_high = ratio.high;
  }
}

/// Drops the slower ones, but never the default, which is the first.
void Search::eliminate(Stopwatch& watch, std::vector<size_t>& running, std::vector<Times>& times) {
  MedianRange fastest{1, 1, 1};
  std::vector<double> medians;
  for (const Times& each : times) {
    const MedianRange range = median_range(each.ratios);
    medians.push_back(range.median);
    if (range.median < fastest.median) fastest = range;
  }
  const double middle = median(medians);
  std::vector<size_t> kept;
  std::vector<Times> kept_times;
  for (size_t i = 0; i < running.size(); ++i) {
    const MedianRange range = median_range(times[i].ratios);
    const bool is_slower = range.low > fastest.high && range.median > 1.02 * fastest.median;
    const bool is_behind = range.median > middle && range.median > kNear * fastest.median;
    if (i == 0 || running[i] == best_ || (!is_slower && !is_behind)) {
      kept.push_back(running[i]);
      kept_times.push_back(std::move(times[i]));
      continue;
    }
    candidates_[running[i]].remark = "left out after " + std::to_string(times[i].ratios.size()) + " rounds: clearly slower";
    watch.drop(variant_of(candidates_[running[i]]));
  }
  running = std::move(kept);
  times = std::move(kept_times);
}

Status Search::wave(Stopwatch& watch, double deadline) {
  last_measured_.clear();
  const std::vector<Variant> batch = next_batch();
  for (const size_t at : {size_t{0}, best_})
    if (const Status status = watch.prepare(variant_of(candidates_[at])); !status.ok()) {
      if (at == 0) return status.with_prefix("the default schedule");
      candidates_[at].is_measured = false;
      candidates_[at].remark = status.message();
      best_ = 0;
    }
  std::vector<size_t> running = prepare(watch, batch, deadline);
  last_measured_ = running;
  std::vector<Times> times(running.size());
  const HostLoad load(watch);
  for (const int rounds : kRungs) {
    const bool went_on = run_rounds(watch, running, rounds, deadline, times);
    note(running, times, load.is_busy());
    if (!went_on) break;
    eliminate(watch, running, times);
  }
  // The fastest is compared within this wave: ratios of another wave had other noise.
  const double before = candidates_[best_].ratio;
  size_t best = best_;
  for (const size_t at : running)
    if (candidates_[at].is_measured && candidates_[at].ratio < candidates_[best].ratio) best = at;
  for (const size_t at : running)
    if (at != best && at != 0) watch.drop(variant_of(candidates_[at]));
  last_gain_ = best == best_ ? 0 : 1 - candidates_[best].ratio / before;
  idle_waves_ = last_gain_ > 1 - kImproves ? 0 : idle_waves_ + 1;
  best_ = best;
  const bool is_enough = settings_.mode == SearchMode::measure && idle_waves_ >= kIdleWaves;
  is_done_ = batch.empty() || is_enough;
  return {};
}

std::vector<size_t> Search::finalists() const {
  std::vector<size_t> all;
  for (size_t i = 1; i < candidates_.size(); ++i)
    if (candidates_[i].is_measured && candidates_[i].ratio < 1) all.push_back(i);
  std::stable_sort(all.begin(), all.end(), [&](size_t a, size_t b) { return candidates_[a].ratio < candidates_[b].ratio; });
  if (all.size() > kFinalists) all.resize(kFinalists);
  return all;
}

Status Search::confirm(Stopwatch& watch, double deadline) {
  last_measured_.clear();
  winner_ = 0;
  undecided_after_.reset();
  std::vector<size_t> running = {0};
  STREW_TRY(watch.prepare(space_->standard()));
  for (const size_t at : finalists())
    if (watch.prepare(variant_of(candidates_[at])).ok()) running.push_back(at);
  if (running.size() == 1) {
    // Nothing looked faster, so there is no luck to rule out.
    candidates_[0].is_confirmed = candidates_[0].is_measured;
    last_measured_ = running;
    return {};
  }
  std::vector<Times> times(running.size());
  const HostLoad load(watch);
  const double confirmed_by = watch.seconds() + kForConfirmRounds * (deadline - watch.seconds());
  // Times depend on where the data lies, so each part of the rounds has it elsewhere.
  for (int part = 0; part < kConfirmPlaces; ++part) {
    if (part > 0) STREW_TRY(watch.relocate());
    if (!run_rounds(watch, running, kConfirmRounds, confirmed_by, times)) break;
  }
  if (times[0].ratios.size() < kLeastConfirmRounds) {
    undecided_after_ = static_cast<int>(times[0].ratios.size());
    if (candidates_[0].rounds < kEnoughRounds) return {};
    candidates_[0].is_confirmed = true;
    last_measured_ = {0};
    return {};
  }
  note(running, times, load.is_busy());
  last_measured_ = running;
  for (const size_t at : running) candidates_[at].is_confirmed = true;
  STREW_TRY(decide(watch, deadline));
  best_ = winner_;
  return {};
}

/// The winner is the fastest of the confirmed ones that holds in its second look.
Status Search::decide(Stopwatch& watch, double deadline) {
  std::vector<size_t> faster;
  for (const size_t at : last_measured_)
    if (at != 0 && is_faster(candidates_[at])) faster.push_back(at);
  std::sort(faster.begin(), faster.end(), [&](size_t a, size_t b) { return candidates_[a].ratio < candidates_[b].ratio; });
  for (const size_t at : faster) {
    STREW_ASSIGN(const bool is_winner, holds(watch, at, deadline));
    if (is_winner) winner_ = at;
    if (is_winner || undecided_after_) break;
  }
  if (!undecided_after_) return {};
  // Where time ran out, nothing of what looked faster decides.
  for (const size_t at : faster) candidates_[at].is_confirmed = false;
  return {};
}

/// The second look: is the candidate faster than the default beyond noise once more, with the data elsewhere? If not, the new numbers are the
/// candidate's, which the records of wisdom then have.
Expected<bool> Search::holds(Stopwatch& watch, size_t at, double deadline) {
  const std::vector<size_t> running = {0, at};
  std::vector<Times> times(running.size());
  STREW_TRY(watch.relocate());
  const HostLoad load(watch);
  run_rounds(watch, running, kConfirmRounds, deadline, times);
  if (times[0].ratios.size() < kLeastConfirmRounds) {
    undecided_after_ = static_cast<int>(times[0].ratios.size());
    return false;
  }
  if (median_range(times[1].ratios).high < 1) return true;
  const TunedCandidate standard = candidates_[0];  // its confirmation had more rounds
  note(running, times, load.is_busy());
  candidates_[0] = standard;
  TunedCandidate& loser = candidates_[at];
  loser.is_confirmed = false;
  loser.lost_second_look = true;
  loser.remark = "looked faster, and was not when it was measured once more beside the default";
  return false;
}

bool Search::is_faster(const TunedCandidate& candidate) { return candidate.ratio < kWins && candidate.ratio_high < 1; }

}  // namespace strew::inline v0
