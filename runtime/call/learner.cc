// See learner.h.
#include "runtime/call/learner.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <new>

#include "base/fp_environment.h"
#include "base/strategy_traits.h"
#include "runtime/call/callable.h"
#include "runtime/call/executor/phases.h"
#include "runtime/call/online_search.h"
#include "runtime/call/strategies/strategy.h"

namespace strew::inline v0 {
namespace {

constexpr double kClockShare = 0.001;      ///< of the time of calls that timing them may take
constexpr double kLeastSamples = 4;        ///< calls of a block that are timed
constexpr double kMostBlock = 4096;        ///< calls
constexpr double kRests = 8;               ///< times the time of a search until the next
constexpr double kOtherCalls = 1.5;        ///< times as long as after the search: these are other calls than were learned from
constexpr int kOtherBlocks = 2;            ///< of such calls in a row, and the search starts again at once
constexpr uint32_t kRareWhenSettled = 16;  ///< times as rarely a call is timed once the search is over

thread_local uint32_t calls_of_thread = 0;  ///< of kernels that learn

void add_to(std::atomic<double>& sum, double value) { sum.fetch_add(value, std::memory_order_relaxed); }

}  // namespace

Lesson::Lesson(const Ways& ways, double block_calls, LearningCounts* counts, const KeepLesson* keep, int threads)
    : ways_(ways),
      block_calls_(block_calls),
      counts_(counts),
      keep_(keep),
      way_(ways.list[0]),
      search_(ways.count - 1, kRegret),
      outcome_{.first = ways.list[0], .other = ways.list[0], .threads = threads} {
  block_.length = kLeastSamples;
}

bool Lesson::is_due() const {
  // Multiples of the golden ratio are spread evenly, those of every second or third call, too; a thread may call several kernels in turns.
  constexpr uint32_t kGolden = 2654435769U;
  return calls_of_thread * kGolden <= most_due_.load(std::memory_order_relaxed);
}

void Lesson::add(CallWay way, double nanoseconds, double alone) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || way != way_.load(std::memory_order_relaxed)) return;
  block_.calls += every_;
  if (block_.calls > block_.length / 2) {
    block_.samples += 1;
    block_.ratio += nanoseconds / alone;
    block_.alone += alone;
  }
  if (block_.calls >= block_.length && block_.samples > 0) end_block();
}

void Lesson::end_block() {
  const double call_ns = block_.ratio / block_.samples * (block_.alone / block_.samples);
  const double total = search_.total_ns(), regret = search_.regret_ns();
  if (search_.is_settled()) {
    rest_ns_ -= call_ns * block_.calls;
    search_.add_call(call_ns, 0, block_.calls);
    add_to(counts_->total_ns, call_ns * block_.calls);
    if (rest_ns_ <= 0 || are_other_calls(block_.ratio / block_.samples)) start_again();
    return begin_block(call_ns);
  }
  const size_t best = search_.best();
  if (block_.is_trial)
    search_.add_trial(call_ns, 0, block_.calls);
  else
    search_.add_call(call_ns, 0, block_.calls);
  add_to(counts_->total_ns, search_.total_ns() - total);
  add_to(counts_->regret_ns, search_.regret_ns() - regret);
  counts_->trials.fetch_add(block_.is_trial ? 1 : 0, std::memory_order_relaxed);
  counts_->changes.fetch_add(search_.best() != best ? 1 : 0, std::memory_order_relaxed);
  begin_block(call_ns);
  if (search_.is_settled()) settle();
}

void Lesson::settle() {
  rest_ns_ = kRests * (search_.total_ns() - searched_ns_);
  settled_ratio_ = 0;
  changed_ = 0;
  has_settled_.store(true, std::memory_order_relaxed);
  outcome_.trials += static_cast<int>(search_.trials());
  if (search_.best() == 0) return;
  const CallWay best = ways_.list[search_.best()];
  if (best == outcome_.first) {  // the search began with the other
    outcome_.ratio = inverse(search_.ratio());
  } else {
    outcome_.other = best;
    outcome_.ratio = outcome_.ratio * search_.ratio();
  }
  if (keep_ != nullptr && *keep_ != nullptr) (*keep_)(outcome_);
  if (best == outcome_.first) outcome_.ratio = {1, 1, 1};
}

/// A trial is compared with the block before it, so the way in use has every second block.
void Lesson::begin_block(double call_ns) {
  const bool was_trial = block_.is_trial;
  const double every = std::clamp(std::ceil(kCallClockNanoseconds / (kClockShare * std::max(call_ns, 1.0))), 1.0, kMostBlock);
  every_ = static_cast<uint32_t>(every) * (search_.is_settled() ? kRareWhenSettled : 1);
  block_ = {};
  block_.length = std::max(block_calls_, kLeastSamples * every_);
  block_.is_trial = !search_.is_settled() && !was_trial && search_.may_try(block_.length);
  most_due_.store(~uint32_t{0} / every_, std::memory_order_relaxed);
  way_.store(ways_.list[block_.is_trial ? search_.next() : search_.best()], std::memory_order_relaxed);
}

/// A kernel may have come to another part of its program, whose data lie in other caches: then calls take another time than when it settled.
bool Lesson::are_other_calls(double ratio) {
  if (settled_ratio_ == 0) settled_ratio_ = ratio;
  const bool is_other = ratio > kOtherCalls * settled_ratio_ || kOtherCalls * ratio < settled_ratio_;
  changed_ = is_other ? changed_ + 1 : 0;
  return changed_ >= kOtherBlocks;
}

/// What was the fastest once need not be it for ever: other work may have come to the machine, or other data.
void Lesson::start_again() {
  std::swap(ways_.list[0], ways_.list[search_.best()]);
  search_ = OnlineSearch(ways_.count - 1, search_);
  searched_ns_ = search_.total_ns();
  has_settled_.store(false, std::memory_order_relaxed);
}

std::unique_ptr<Learner> Learner::make(const Callable& callable) {
  const strew_kernel& kernel = callable.kernel;
  const ExecutionLimits& limits = *callable.limits;
  const bool is_told = limits.shares_all || limits.strategy >= 0 || limits.trace != nullptr;
  const uint32_t strategies = kernel.strategies | 1U << kernel.strategy;
  const bool has_choice = callable.stream != nullptr || std::popcount(strategies) > 1;
  if (kernel.adapts == 0 || limits.learning == nullptr || is_told || !has_choice || callable.range == nullptr) return nullptr;
  return std::unique_ptr<Learner>(new Learner(limits.learning));
}

Learner::~Learner() {
  for (Slot& slot : slots_) delete slot.lesson.load();
}

Lesson* Learner::new_lesson(const Callable& callable, std::span<const TensorView> tensors, const Call& call) const {
  const FpEnvironment environment(true, !callable.computes_floats);  // costs are floats
  Lesson::Ways ways;
  const strew_args args = arguments_of(call, callable.program);
  ApplyCall question = apply_call(callable, call, tensors, args);
  if (callable.runs_alone(call) || callable.always_runs_alone) question.threads = 1;
  constexpr double kMostTimes = 2;
  const auto add = [&](int strategy) {
    for (const bool streams : {call.streams, !call.streams}) {
      const bool may_stream = callable.stream != nullptr && (strategy < 0 || traits_of(strategy).uses_range());
      if (streams != call.streams && !may_stream) continue;
      if (ways.count < Lesson::kMostWays) ways.list[ways.count++] = {static_cast<int16_t>(strategy), streams};
    }
  };
  if (question.threads <= 1) {
    add(-1);
  } else {
    const int chosen = choose_strategy(question);
    add(chosen);
    for (const int strategy : strategies_within(question, kMostTimes))
      if (strategy >= 0 && strategy != chosen) add(strategy);
  }
  const double moved = std::max(
      1.0, static_cast<double>(call.positions) * static_cast<double>(call.window) * static_cast<double>(callable.result_bytes));
  const double calls = callable.stream == nullptr ? 1 : 2 * static_cast<double>(callable.last_level_cache.count()) / moved;
  return new (std::nothrow) Lesson(ways, std::clamp(std::ceil(calls), 1.0, kMostBlock), counts_, &keep_, call.threads);
}

Lesson* Learner::lesson_of(const Callable& callable, std::span<const TensorView> tensors, const Call& call) {
  const auto size = [](int64_t number) { return static_cast<uint64_t>(std::bit_width(static_cast<uint64_t>(number))); };
  uint64_t key = 1 | static_cast<uint64_t>(call.threads) << 32;
  if (callable.is_open)
    key |= size(call.positions) << 8 | size(call.window) << 16 | size(table_bytes(callable.kernel, tensors).count()) << 24;
  for (Slot& slot : slots_) {
    uint64_t found = slot.key.load(std::memory_order_acquire);
    if (found == 0 && slot.key.compare_exchange_strong(found, key, std::memory_order_acq_rel)) {
      Lesson* const made = new_lesson(callable, tensors, call);
      slot.lesson.store(made, std::memory_order_release);
      return made;
    }
    if (found == key) return slot.lesson.load(std::memory_order_acquire);
  }
  return nullptr;
}

Status Learner::run(const Callable& callable, std::span<const TensorView> tensors, Call& call, BadIndex* bad_index) {
  const bool keeps_flags = !callable.computes_floats;
  Lesson* lesson = nullptr;
  double alone = 0, begin = 0;
  bool is_due = false;
  if (!call.moves_nothing()) {
    lesson = lesson_of(callable, tensors, call);
    if (lesson != nullptr && lesson->has_choice()) {
      const CallWay way = lesson->way();
      call.streams = way.streams;
      call.strategy = way.strategy;
      callable.keep_off_new_pages(call);
      is_due = lesson->is_due() && call.streams == way.streams;  // a call into new pages says nothing of the others
      if (is_due) {
        const FpEnvironment environment(true, keeps_flags);  // costs are floats
        alone = std::max(1.0, apply_nanoseconds(callable, call));
        begin = call_clock();
      }
    }
  }
  Status status = callable.run_bound(tensors, call, bad_index);
  if (!is_due || !status.ok()) return status;  // a call that fails early says nothing
  const FpEnvironment environment(true, keeps_flags);
  try {
    lesson->add({static_cast<int16_t>(call.strategy), call.streams}, call_clock() - begin, alone);
  } catch (const std::bad_alloc&) {  // nothing is learned of this call
  }
  return status;
}

void Learner::count_call() { ++calls_of_thread; }

bool Learner::decides_stores(Call& call, bool is_counted) const {
  const Lesson* const lesson = slots_[0].lesson.load(std::memory_order_acquire);
  if (lesson == nullptr) return false;
  if (!lesson->has_choice()) return true;
  if (is_counted ? lesson->is_due() : !lesson->has_settled()) return false;
  call.streams = lesson->way().streams;
  return true;
}

}  // namespace strew::inline v0
