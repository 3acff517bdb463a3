// How every benchmark here measures: all ways of doing one piece of work take turns within one run, so that each sees the same machine
// noise, and what is reported beside the times is their ratio. A benchmark checks its result before it times anything.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace strew::bench {

/// One way of doing the work: `run(n)` does it n times, going round the case's index sets.
struct Way {
  std::string name;
  std::function<void(int64_t calls)> run;
};

/// Median nanoseconds per call, in the order of the ways.
using Medians = std::vector<double>;

inline double nanoseconds(const std::function<void(int64_t)>& run, int64_t calls) {
  const auto start = std::chrono::steady_clock::now();
  run(calls);
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / static_cast<double>(calls);
}

/// Enough calls, in whole rounds of `sets`, that reading the clock is lost in them.
inline int64_t calls_for(const Way& way, int64_t sets) {
  constexpr double kBatchNanoseconds = 20e3;
  int64_t calls = sets;
  while (nanoseconds(way.run, calls) * static_cast<double>(calls) < kBatchNanoseconds) calls *= 2;
  return calls;
}

/// Times the ways in turn, once each per iteration of `state` in a rotated order, and reports NAME_ns for each. The first way is the one
/// Google Benchmark prints as the case's time (UseManualTime).
inline Medians take_turns(benchmark::State& state, const std::vector<Way>& ways, int64_t sets) {
  std::vector<int64_t> calls;
  for (const Way& way : ways) {
    way.run(sets);
    calls.push_back(calls_for(way, sets));
  }
  std::vector<std::vector<double>> samples(ways.size());
  size_t turn = 0;
  for (auto _ : state) {
    for (size_t i = 0; i < ways.size(); ++i) {
      const size_t way = (i + turn) % ways.size();
      samples[way].push_back(nanoseconds(ways[way].run, calls[way]));
    }
    ++turn;
    state.SetIterationTime(samples[0].back() * 1e-9);
  }
  Medians medians;
  for (size_t i = 0; i < ways.size(); ++i) {
    auto middle = samples[i].begin() + static_cast<std::ptrdiff_t>(samples[i].size() / 2);
    std::nth_element(samples[i].begin(), middle, samples[i].end());
    medians.push_back(*middle);
    state.counters[ways[i].name + "_ns"] = *middle;
  }
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
inline int run_all(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return any_failed() ? 1 : 0;
}

}  // namespace strew::bench
