// How every benchmark here measures: all ways of doing one piece of work take turns within one run, so that each sees the same machine
// noise, and what is reported beside the times is their ratio. A benchmark checks its result before it times anything.
#pragma once

#include <benchmark/benchmark.h>
#include <dirent.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace strew::bench {

/// One way of doing the work: `run(n)` does it n times, going round the case's index sets. `before` and `after` surround each of its
/// turns, untimed.
struct Way {
  std::string name;
  std::function<void(int64_t calls)> run;
  std::function<void()> before, after;
};

/// Median nanoseconds per call, in the order of the ways.
using Medians = std::vector<double>;

inline double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  auto at = values.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}
inline double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

/// What taking turns gave: [way][round], nanoseconds per call.
struct Turns {
  std::vector<std::vector<double>> samples;

  Medians medians() const {
    Medians all;
    for (const std::vector<double>& way : samples) all.push_back(median(way));
    return all;
  }
  /// a's time over b's, round by round, and of those a quantile.
  double ratio(size_t a, size_t b, double q = 0.5) const {
    std::vector<double> ratios;
    for (size_t round = 0; round < samples[a].size(); ++round) ratios.push_back(samples[a][round] / samples[b][round]);
    return quantile(std::move(ratios), q);
  }
};

/// How a way's turn is taken.
struct Turn {
  double batch_nanoseconds = 20e3;  ///< calls are repeated until a sample takes this long
  double warm_nanoseconds = 0;      ///< untimed calls before each sample: caches and threads are then this way's own
  double most_nanoseconds = 1e18;   ///< no further rounds after the fifth once they took this long
  int retries = 0;                  ///< take a sample again when our threads had to wait for a core
};

inline double nanoseconds(const std::function<void(int64_t)>& run, int64_t calls) {
  const auto start = std::chrono::steady_clock::now();
  run(calls);
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / static_cast<double>(calls);
}

/// Nanoseconds that this process's threads have waited for a core so far; 0 where the system does not say.
inline double waited_nanoseconds() {
  double total = 0;
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return 0;
  while (const dirent* task = readdir(tasks)) {
    const std::string path = std::string("/proc/self/task/") + task->d_name + "/schedstat";
    if (std::FILE* file = task->d_name[0] == '.' ? nullptr : std::fopen(path.c_str(), "r")) {
      unsigned long long ran = 0, waited = 0;
      if (std::fscanf(file, "%llu %llu", &ran, &waited) == 2) total += static_cast<double>(waited);
      std::fclose(file);
    }
  }
  closedir(tasks);
  return total;
}

/// Enough calls that reading the clock is lost in them; whole rounds of `sets` unless those take far longer.
inline int64_t calls_for(const Way& way, int64_t sets, double batch_nanoseconds) {
  int64_t calls = nanoseconds(way.run, 1) > 40 * batch_nanoseconds ? 1 : sets;
  while (nanoseconds(way.run, calls) * static_cast<double>(calls) < batch_nanoseconds) calls *= 2;
  return calls;
}

inline double sample(const Way& way, int64_t calls, const Turn& turn) {
  if (way.before) way.before();
  for (double warm = 0; warm < turn.warm_nanoseconds;) {
    const int64_t some = std::max<int64_t>(1, calls / 4);
    const double each = nanoseconds(way.run, some) * static_cast<double>(some);
    warm += std::max(each, 1.0);
  }
  double best = 0;
  for (int attempt = 0;; ++attempt) {
    const double waited = turn.retries > 0 ? waited_nanoseconds() : 0;
    const double each = nanoseconds(way.run, calls), all = each * static_cast<double>(calls);
    if (attempt == 0 || each < best) best = each;
    if (turn.retries == 0) break;
    const bool quiet = waited_nanoseconds() - waited < 0.01 * all + 5000;
    if (quiet) best = each;
    if (quiet || attempt >= turn.retries || (attempt > 1 && all > 20e6)) break;
  }
  if (way.after) way.after();
  return best;
}

/// Times the ways in turn, once each per iteration of `state` in a rotated order. The first way is the one Google Benchmark prints as the
/// case's time (UseManualTime).
inline Turns time_in_turns(benchmark::State& state, const std::vector<Way>& ways, int64_t sets, const Turn& turn) {
  std::vector<int64_t> calls;
  for (const Way& way : ways) {
    if (way.before) way.before();
    way.run(1);
    calls.push_back(calls_for(way, sets, turn.batch_nanoseconds));
    if (way.after) way.after();
  }
  Turns turns;
  turns.samples.resize(ways.size());
  size_t round = 0;
  const auto start = std::chrono::steady_clock::now();
  for (auto _ : state) {
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    const bool enough = round >= 5 && spent.count() > turn.most_nanoseconds;
    for (size_t i = 0; i < ways.size() && !enough; ++i) {
      const size_t way = (i + round) % ways.size();
      turns.samples[way].push_back(sample(ways[way], calls[way], turn));
    }
    ++round;
    state.SetIterationTime(turns.samples[0].back() * 1e-9);
  }
  return turns;
}

/// The same, reporting NAME_ns for each way.
inline Medians take_turns(benchmark::State& state, const std::vector<Way>& ways, int64_t sets) {
  const Medians medians = time_in_turns(state, ways, sets, {}).medians();
  for (size_t i = 0; i < ways.size(); ++i) state.counters[ways[i].name + "_ns"] = medians[i];
  return medians;
}

/// Did any benchmark report an error? run_all() turns it into the exit status, which Google Benchmark itself leaves at 0.
inline bool& any_failed() {
  static bool failed = false;
  return failed;
}
inline void fail(benchmark::State& state, const std::string& message) {
  any_failed() = true;
  state.SkipWithError(message.c_str());
}
/// `display`: prints instead of Google Benchmark's own console reporter.
inline int run_all(int argc, char** argv, benchmark::BenchmarkReporter* display = nullptr) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks(display);
  benchmark::Shutdown();
  return any_failed() ? 1 : 0;
}

}  // namespace strew::bench
