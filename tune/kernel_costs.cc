// See kernel_costs.h. Every number is the least of several runs, as in memory_costs.cc.
#include "tune/kernel_costs.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "base/machine.h"
#include "runtime/call/executor/limits.h"
#include "runtime/call/strategies/owners.h"
#include "strew/executor.h"
#include "strew/forms.h"
#include "strew/runtime.h"

namespace strew::inline v0 {
namespace {

using Clock = std::chrono::steady_clock;

/// Nanoseconds of the fastest of many runs.
template <class Run>
double least_of(int runs, const Run& run) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < runs; ++i) {
    const auto start = Clock::now();
    run();
    least = std::min(least, std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  return least;
}

/// f32 updates that are added to the rows of a table; everything fits the first-level cache.
class Example {
 public:
  static constexpr int64_t kPositions = 1024;

  Example(int64_t rows, int64_t width)
      : rows_(rows),
        width_(width),
        positions_(width == 1 ? kPositions : kUpdateRows),
        table_(static_cast<size_t>(rows * width)),
        updates_(static_cast<size_t>(positions_ * width)) {
    std::mt19937_64 random(9);
    for (int32_t& each : indices_) each = static_cast<int32_t>(random() % static_cast<uint64_t>(rows));
  }

  /// `strategy`: the kernel must have that strategy's entries.
  Status build(Strategy strategy) {
    using namespace types;
    const auto shape = [&](int64_t rows) { return width_ == 1 ? f32({rows}) : f32({rows, width_}); };
    auto builder = scatter_rows(shape(rows_), i32({positions_}), shape(positions_));
    builder.combine(CombinerKind::add).in_place().oob(OobPolicy::skip_element).normalize_negative(false);
    STREW_ASSIGN(const Scatter scatter, builder.build());
    KernelOptions options;
    options.schedule.strategy = strategy;
    options.schedule.prefetch = 0;
    options.threads = 1;
    STREW_ASSIGN(kernel_, Runtime::process().get(Op(scatter), options));
    if (kernel_.entry(STREW_ENTRY_range) == nullptr) return unsupported("no backend makes machine code for this machine");
    return {};
  }

  /// Nanoseconds per position of an entry.
  double per_position(int kind) {
    void* data[] = {table_.data(), nullptr, indices_, updates_.data()};
    strew_args args{};
    args.abi = STREW_ABI_VERSION;
    args.data = data;
    args.w1 = kernel_.descriptor().splits.factor;
    args.k1 = std::numeric_limits<int32_t>::max();
    args.key = keys_;
    strew_fault fault{};
    constexpr int kRuns = 2000, kEach = 4;
    const double all = least_of(kRuns, [&] {
      for (int i = 0; i < kEach; ++i) kernel_.entry(kind)(&args, 0, positions_, &fault);
    });
    return all / kEach / static_cast<double>(positions_);
  }

  /// Nanoseconds of a call besides its entries.
  double call() {
    const int64_t dims[] = {rows_, width_}, counts[] = {positions_, width_};
    const int32_t rank = width_ == 1 ? 1 : 2;
    const TensorView views[] = {{table_.data(), DType::f32, rank, dims, nullptr},
                                {indices_, DType::i32, 1, counts, nullptr},
                                {updates_.data(), DType::f32, rank, counts, nullptr}};
    constexpr int kRuns = 2000, kEach = 16;
    const double all = least_of(kRuns, [&] {
      for (int i = 0; i < kEach; ++i) static_cast<void>(kernel_.run(views).ok());
    });
    return all / kEach - per_position(STREW_ENTRY_range) * static_cast<double>(positions_);
  }

  /// Nanoseconds per position to see which keys belong to one of two threads. The keys entry must have run.
  double selecting() {
    constexpr int kRuns = 2000;
    const Owners owners(2, Bytes(4));
    const Owners::Share share(owners, 0);
    std::vector<uint64_t> list(kPositions + kSelectSlack);
    const double all = least_of(kRuns, [&] { select_owned(share, keys_, positions_, 0, list.data(), 0); });
    return all / static_cast<double>(positions_);
  }

  void point_all_at(int32_t row) { std::fill(std::begin(indices_), std::end(indices_), row); }

 private:
  static constexpr int64_t kUpdateRows = 16;
  int64_t rows_, width_, positions_;
  std::vector<float> table_, updates_;
  alignas(64) int32_t indices_[kPositions] = {};
  uint32_t keys_[kPositions + 64] = {};
  Kernel kernel_;
};

/// Two threads write a line by turns: half of the time that a turn of both takes. 0 if the system has no core for the other thread now.
double transfer_of_a_line() {
  constexpr int kTurns = 2000, kGames = 20;
  constexpr auto kLongest = std::chrono::milliseconds(100);
  alignas(2 * kLineBytes) std::atomic<int> turn{0};
  const auto end = Clock::now() + kLongest;
  std::atomic<bool> gave_up{false};
  const auto play = [&](int mine) {
    for (int i = mine; i < kTurns && !gave_up; i += 2) {
      while (turn.load(std::memory_order_acquire) != i && !gave_up)
        if (Clock::now() > end) gave_up = true;
      turn.store(i + 1, std::memory_order_release);
    }
  };
  const double all = least_of(kGames, [&] {
    turn = 0;
    std::thread other([&] { play(1); });
    play(0);
    other.join();
  });
  return gave_up ? 0 : all / kTurns;
}

/// A phase in which each of `threads` threads waits until all have come: from the caller's start until all have gone again.
struct Assembly {
  double nanoseconds = 0;
  bool is_full = false;  ///< all threads came before the time was up
};

Assembly assemble(Executor& executor, int threads) {
  struct Meeting {
    const int expected;
    const Clock::time_point end = Clock::now() + std::chrono::milliseconds(5);
    alignas(2 * kLineBytes) std::atomic<int> present{0};
    std::atomic<bool> gave_up{false};

    static void come(void* context, int) noexcept {
      constexpr int kBetweenLooks = 256;  // at the clock
      Meeting& meeting = *static_cast<Meeting*>(context);
      ++meeting.present;
      for (int i = 1; meeting.present.load(std::memory_order_relaxed) < meeting.expected && !meeting.gave_up; ++i)
        if (i % kBetweenLooks == 0 && Clock::now() > meeting.end) meeting.gave_up = true;
    }
  };
  Meeting meeting{threads};
  const auto start = Clock::now();
  executor.parallel_for(threads, Meeting::come, &meeting);
  const double took = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
  return {took, !meeting.gave_up};
}

void set(float& cost, double nanoseconds) {
  if (nanoseconds > 0) cost = static_cast<float>(nanoseconds);
}

}  // namespace

Status measure_kernels(MachineCosts& costs) {
  Example elements(2048, 1);
  STREW_TRY(elements.build(Strategy::owner));
  const double position = elements.per_position(STREW_ENTRY_range);
  set(costs.position_ns, position);
  set(costs.key_ns, elements.per_position(STREW_ENTRY_keys) + elements.selecting());
  elements.point_all_at(7);
  set(costs.chain_ns, elements.per_position(STREW_ENTRY_range));
  constexpr int64_t kWidth = 64;
  Example rows(32, kWidth);
  STREW_TRY(rows.build(Strategy::sequential));
  const double vectors = static_cast<double>(kWidth * 4) / static_cast<double>(detect_target().vector_bytes);
  set(costs.vector_ns, (rows.per_position(STREW_ENTRY_range) - position) / vectors);
  Example few(32, 4);
  STREW_TRY(few.build(Strategy::sequential));
  set(costs.call_ns, few.call());
  return {};
}

Status measure_threads(int cores, MachineCosts& costs) {
  if (cores <= 1) return {};
  set(costs.transfer_ns, transfer_of_a_line());
  STREW_ASSIGN(const std::shared_ptr<Executor> executor, make_executor(cores));
  constexpr int kRuns = 2000, kWakes = 40;
  std::vector<double> phases, wakes;
  for (int i = 0; i < kRuns; ++i) {
    // Between two phases a caller works for itself, and the workers' flags leave its cache.
    const auto start = Clock::now();
    while (Clock::now() - start < std::chrono::microseconds(2)) {
    }
    if (const Assembly phase = assemble(*executor, cores); phase.is_full) phases.push_back(phase.nanoseconds);
  }
  for (int i = 0; i < kWakes; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // longer than workers wait before they sleep
    if (const Assembly phase = assemble(*executor, cores); phase.is_full) wakes.push_back(phase.nanoseconds);
  }
  // Where fewer phases than half had all their threads, something else has the cores, and the times say nothing of the machine.
  if (phases.size() < kRuns / 2 || wakes.size() < kWakes / 2) return {};
  const auto median = [](std::vector<double>& values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
  };
  set(costs.fork_join_ns, median(phases));
  set(costs.wake_ns, std::max(median(wakes), static_cast<double>(costs.fork_join_ns)));
  return {};
}

}  // namespace strew::inline v0
