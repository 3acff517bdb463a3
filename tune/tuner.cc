// See tuner.h.
#include "tune/tuner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>

#include "backends/pipeline.h"
#include "base/machine.h"
#include "base/machine_costs.h"
#include "runtime/learned_wisdom.h"
#include "schedules/costs/predict.h"
#include "schedules/wisdom/wisdom_file.h"
#include "strew/wisdom.h"
#include "tune/kernel_stopwatch.h"
#include "tune/wisdom_of_tuning.h"

namespace strew::inline v0 {
namespace {

constexpr double kConfirmShare = 0.15;    ///< of the budget, at the end
constexpr double kReferenceShare = 0.15;  ///< of an op's budget that the reference may take
constexpr double kForgets = 0.5;          ///< what a wave gained is expected of the next one by half

/// Makes the stopwatch of an op.
using MakeStopwatch =
    std::function<Expected<std::unique_ptr<Stopwatch>>(const TuningTask&, size_t number, const Variant& standard)>;

/// An op while it is tuned.
struct Tuned {
  const TuningTask* task = nullptr;
  TunedOp result;
  std::unique_ptr<Compiled> planned, sized;
  std::optional<SearchSpace> space;
  std::optional<Search> search;
  std::unique_ptr<Stopwatch> watch;
  int64_t bytes = 0;   ///< of the stopwatch's data
  double seconds = 0;  ///< spent on waves
  int waves = 0;
  bool is_confirmed = false;

  bool wants_more() const { return result.failure.empty() && search && !search->is_done(); }
};

/// The time below which no schedule can come, because lines of the table and of the updates have to be moved: the least of all variants.
double memory_limit(const SearchSpace& space, const Compiled& sized) {
  double least = std::numeric_limits<double>::infinity();
  const Workload work = workload_of(sized.plan);
  for (const ListedVariant& each : space.listed()) {
    const Prediction terms = predict({work, each.variant.schedule, sized.target, planned_threads(sized.target, sized.threads)});
    least = std::min(least, std::max(terms[CostTerm::table], terms[CostTerm::stream]) + terms[CostTerm::call]);
  }
  return least;
}

Status check_settings(const TunerSettings& settings) {
  if (settings.budget_seconds < 0)
    return invalid_argument(fmt::format("budget: it is {} s, expected more than 0", settings.budget_seconds));
  if (settings.max_bytes < 0) return invalid_argument(fmt::format("max_bytes: it is {}, expected 0 or more", settings.max_bytes));
  return {};
}

class Tuner {
 public:
  Tuner(const std::vector<TuningTask>& tasks, const TunerSettings& settings, MakeStopwatch make, std::function<double()> seconds)
      : tasks_(tasks), settings_(settings), make_(std::move(make)), seconds_(std::move(seconds)) {
    budget_ = settings.budget_seconds > 0               ? settings.budget_seconds
              : settings.mode == SearchMode::exhaustive ? std::numeric_limits<double>::infinity()
                                                        : kSecondsPerOp * static_cast<double>(std::max<size_t>(1, tasks.size()));
    max_bytes_ = settings.max_bytes > 0
                     ? settings.max_bytes
                     : static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) / 4 * static_cast<int64_t>(sysconf(_SC_PAGESIZE));
  }

  TuningResult run() {
    read_known();
    for (const TuningTask& task : tasks_) begin(task);
    const double until = budget_ * (1 - kConfirmShare);
    while (!is_over(until)) {
      Tuned* const next = most_promising();
      if (next == nullptr) break;
      take_wave(*next, until);
    }
    confirm_all();
    return finish();
  }

  int64_t max_bytes() const { return max_bytes_; }
  double budget() const { return budget_; }

 private:
  bool is_over(double until) const { return seconds_() >= until || settings_.stop(); }

  /// Plans the op and its search. Runs nothing.
  void begin(const TuningTask& task) {
    ops_.push_back(std::make_unique<Tuned>());
    Tuned& op = *ops_.back();
    op.task = &task;
    op.result.name = task.name;
    op.result.op_text = print(*task.op);
    op.result.usage = print(task.usage);
    op.result.notes = task.notes;
    op.result.threads = task.usage.threads;
    if (const Status status = plan(op); !status.ok()) op.result.failure = status.message();
  }

  Status plan(Tuned& op) {
    KernelOptions options;
    options.threads = op.task->usage.threads;
    options.wisdom = Wisdom::none();
    STREW_ASSIGN(Compiled planned, plan_kernel(op.task->op, options));
    STREW_ASSIGN(const VerifiedOp sized_op, with_dims(op.task->op, op.task->usage));
    STREW_ASSIGN(Compiled sized, plan_kernel(sized_op, options));
    op.planned = std::make_unique<Compiled>(std::move(planned));
    op.sized = std::make_unique<Compiled>(std::move(sized));
    STREW_ASSIGN(op.space, SearchSpace::of(*op.planned, *op.sized));
    op.search.emplace(*op.space, SearchSettings{settings_.mode, settings_.seed, settings_.stop},
                      known_candidates(known_, *op.task, *op.planned));
    op.result.limit_ns = memory_limit(*op.space, *op.sized);
    return {};
  }

  /// Those without a wave come first, the largest first; then the one whose next wave is expected to save the most time per second.
  Tuned* most_promising() {
    Tuned* best = nullptr;
    double most = -1;
    for (const std::unique_ptr<Tuned>& op : ops_) {
      if (!op->wants_more()) continue;
      const double each = op->search->candidates()[0].nanoseconds > 0 ? op->search->candidates()[0].nanoseconds
                                                                      : op->space->listed()[0].predicted_ns;
      const double all = each * static_cast<double>(op->task->usage.calls);
      const double per_wave = op->waves == 0 ? 0 : op->seconds / op->waves;
      // An op that has gained nothing may still gain a little.
      const double gain = op->waves == 0 ? 1e9 : kForgets * op->search->last_gain() + 0.01 / op->waves;
      const double promise = all * gain / (per_wave + 0.1);
      if (promise <= most) continue;
      most = promise;
      best = op.get();
    }
    return best;
  }

  /// Gives an op its data, for which others may have to give up theirs.
  Status open(Tuned& op) {
    if (op.watch != nullptr) return {};
    STREW_ASSIGN(op.watch, make_(*op.task, static_cast<size_t>(op.task - tasks_.data()), op.space->standard()));
    const CallFacts facts = op.watch->facts();
    op.bytes = facts.data_bytes;
    op.result.bytes_moved = facts.bytes_moved;
    op.result.memcpy_ns = facts.memcpy_ns;
    int64_t held = 0;
    for (const std::unique_ptr<Tuned>& each : ops_) held += each->watch != nullptr ? each->bytes : 0;
    for (const std::unique_ptr<Tuned>& each : ops_) {
      if (held <= max_bytes_) break;
      if (each.get() == &op || each->watch == nullptr) continue;
      held -= each->bytes;
      each->watch.reset();
    }
    return {};
  }

  void take_wave(Tuned& op, double until) {
    const double begin = seconds_();
    Status status = open(op);
    if (status.ok()) status = op.search->wave(*op.watch, until);
    if (!status.ok()) op.result.failure = status.message();
    ++op.waves;
    op.seconds += seconds_() - begin;
    tell(op);
    if (op.search->is_done()) confirm(op, std::min(budget_, seconds_() + 0.5 * kConfirmShare * kSecondsPerOp));
  }

  void confirm(Tuned& op, double deadline) {
    if (op.is_confirmed || op.waves == 0 || !op.result.failure.empty()) return;
    const double begin = seconds_();
    if (open(op).ok() && op.search->confirm(*op.watch, deadline).ok()) tell(op);
    op.is_confirmed = true;
    op.seconds += seconds_() - begin;
  }

  /// Each op that is left gets an equal part of what is left.
  void confirm_all() {
    auto left = static_cast<double>(
        std::count_if(ops_.begin(), ops_.end(), [](const auto& op) { return !op->is_confirmed && op->waves > 0; }));
    for (const std::unique_ptr<Tuned>& op : ops_) {
      if (op->is_confirmed || op->waves == 0) continue;
      op->result.is_stopped = op->wants_more();
      const double now = seconds_(), end = std::min(budget_, now + 10 * kSecondsPerOp);
      confirm(*op, now + std::max(0.0, end - now) / left);
      left -= 1;
    }
  }

  /// Hands new times to those who keep and show them.
  void tell(Tuned& op) {
    op.result.candidates = op.search->candidates();
    keep(op);
    const TunedCandidate& best = op.search->candidates()[op.search->best_at()];
    settings_.on_progress({op.result.name, static_cast<size_t>(op.task - tasks_.data()), ops_.size(),
                           op.search->candidates().size(), best.ratio, best.nanoseconds, seconds_(), budget_});
  }

  void keep(const Tuned& op) {
    if (settings_.wisdom_file.empty()) return;
    std::vector<WisdomRecord> records;
    for (const size_t at : op.search->last_measured())
      if (const TunedCandidate& each = op.search->candidates()[at]; each.is_measured)
        records.push_back(record_of(*op.task, *op.planned, *op.sized, each, at == 0));
    const Status status = append_wisdom(settings_.wisdom_file, records);
    const bool is_new = std::find(problems_.begin(), problems_.end(), status.message()) == problems_.end();
    if (!status.ok() && is_new) problems_.push_back(status.message());
  }

  /// What the file of wisdom has of an op is not measured again.
  void read_known() {
    std::error_code ignored;
    if (settings_.wisdom_file.empty() || !std::filesystem::exists(settings_.wisdom_file, ignored)) return;
    Expected<WisdomLines> lines = read_wisdom(settings_.wisdom_file);
    if (!lines.ok()) {
      problems_.push_back(lines.status().message());
      return;
    }
    problems_ = lines->problems;
    known_ = latest(std::move(lines->records));
  }

  TuningResult finish() {
    TuningResult out;
    out.problems = problems_;
    out.machine = machine_key(machine());
    out.generator = generator_version();
    out.date = date_now();
    out.mode = name(settings_.mode);
    out.seed = settings_.seed;
    out.budget_seconds = std::isinf(budget_) ? 0 : budget_;
    out.seconds = seconds_();
    for (const std::unique_ptr<Tuned>& op : ops_) {
      TunedOp& result = op->result;
      const bool is_measured = settings_.mode == SearchMode::estimate || (op->search && op->search->candidates()[0].is_measured);
      if (result.failure.empty() && !is_measured)
        result.failure =
            settings_.stop()
                ? "it was stopped before anything was measured"
                : fmt::format("the budget of {:g} s ended before anything was measured, expected a larger one", budget_);
      if (result.failure.empty()) {
        result.candidates = op->search->candidates();
        result.winner_at = op->search->winner_at();
        result.undecided_after = op->search->undecided_after().value_or(-1);
        result.rounds_to_confirm = Search::kLeastConfirmRounds;
        result.is_stopped = result.is_stopped || op->wants_more();
      }
      if (!result.failure.empty()) result.candidates.clear();
      result.seconds = op->seconds;
      out.ops.push_back(std::move(result));
    }
    return out;
  }

  const std::vector<TuningTask>& tasks_;
  const TunerSettings& settings_;
  MakeStopwatch make_;
  std::function<double()> seconds_;
  double budget_ = 0;
  int64_t max_bytes_ = 0;
  std::vector<std::unique_ptr<Tuned>> ops_;
  std::vector<WisdomRecord> known_;
  std::vector<std::string> problems_;
};

}  // namespace

Expected<TuningResult> tune(const std::vector<TuningTask>& tasks, const TunerSettings& settings) {
  STREW_TRY(check_settings(settings));
  std::shared_ptr<TimingsFile> timings;
  if (!settings.timings_file.empty()) {
    STREW_ASSIGN(timings, TimingsFile::create(settings.timings_file, std::string(name(settings.mode)), settings.seed,
                                              settings.budget_seconds));
  }
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [start] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  KernelStopwatch::Settings watch_settings;
  const auto make = [&](const TuningTask& task, size_t number, const Variant& standard) -> Expected<std::unique_ptr<Stopwatch>> {
    STREW_ASSIGN(std::unique_ptr<Stopwatch> watch, KernelStopwatch::make(task.op, task.usage, standard, watch_settings));
    if (timings == nullptr) return watch;
    return std::unique_ptr<Stopwatch>(std::make_unique<RecordingStopwatch>(std::move(watch), timings, task, number));
  };
  Tuner tuner(tasks, settings, make, seconds);
  watch_settings.seed = settings.seed;
  watch_settings.max_bytes = tuner.max_bytes();
  watch_settings.isolate = settings.isolate;
  watch_settings.start = start;
  const double per_op = std::min(tuner.budget() / static_cast<double>(std::max<size_t>(1, tasks.size())), 60.0);
  watch_settings.reference_seconds = kReferenceShare * per_op;
  TuningResult result = tuner.run();
  if (timings != nullptr) STREW_TRY(timings->close());
  return result;
}

Expected<TuningResult> replay(const RecordedRun& run) {
  TunerSettings settings;
  settings.seed = run.seed;
  settings.budget_seconds = run.budget_seconds;
  const auto mode = std::find(std::begin(kSearchModes), std::end(kSearchModes), run.mode);
  if (mode == std::end(kSearchModes))
    return invalid_argument("mode: '" + run.mode + "', expected estimate, measure or exhaustive");
  settings.mode = static_cast<SearchMode>(mode - std::begin(kSearchModes));
  STREW_TRY(check_settings(settings));
  std::vector<TuningTask> tasks;
  for (const RecordedTimings& op : run.ops) tasks.push_back(op.task);
  double clock = 0;
  const auto make = [&](const TuningTask&, size_t number, const Variant&) -> Expected<std::unique_ptr<Stopwatch>> {
    return std::unique_ptr<Stopwatch>(std::make_unique<RecordedStopwatch>(run.ops[number], clock));
  };
  return Tuner(tasks, settings, make, [&] { return clock; }).run();
}

}  // namespace strew::inline v0
