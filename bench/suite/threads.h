// More threads are never slower: each case with one thread and with two, in turns, `./dev bench threads`.
#pragma once

#include <benchmark/benchmark.h>

#include <map>
#include <string>
#include <vector>

#include "bench/cases/cases.h"
#include "tune/turns.h"

namespace strew::bench {

inline constexpr int kThreadsRuns = 3;  ///< of every case; a miss is one of all of them

/// Calls the kernel for so long.
void serve(const Way& way, double seconds);
/// Times the case's two kernels, which have learned for so many seconds each before (docs/tuning.md, "Kernels that learn").
void run_threads(benchmark::State& state, const Case& c, double serve_seconds);

/// Other work on the machine: as long as it lives, a process of its own is busy.
class BusyLoop {
 public:
  explicit BusyLoop(bool wanted);
  ~BusyLoop();
  BusyLoop(const BusyLoop&) = delete;
  BusyLoop& operator=(const BusyLoop&) = delete;

 private:
  int process_ = -1;
};

/// A row per run; at the end, the cases that two threads made slower in every run. `most`: the ratio that counts as slower.
class ThreadsTable : public benchmark::BenchmarkReporter {
 public:
  explicit ThreadsTable(double most) : most_(most) {}
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

 private:
  double most_;
  std::map<std::string, std::vector<double>> ratios_;
};

}  // namespace strew::bench
