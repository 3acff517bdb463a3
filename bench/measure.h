// How every benchmark here measures: all ways of doing one piece of work take turns within one run, so that each sees the same machine
// noise, and what is reported beside the times is their ratio. A benchmark checks its result before it times anything.
#pragma once

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tune/turns.h"

namespace strew::bench {

/// Median nanoseconds per call, in the order of the ways.
using Medians = std::vector<double>;

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
  setenv("STREW_EXACT_SHAPES", "0", 0);  // cases that differ in extents do not share kernels, which are a little slower
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks(display);
  benchmark::Shutdown();
  return any_failed() ? 1 : 0;
}

}  // namespace strew::bench
