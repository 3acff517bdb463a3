// The table of `./dev bench tune`: a row per case and number of threads, where tuning won and by how much, and the times of wisdom.
#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

namespace strew::bench {

class TuningTable : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

 private:
  void report(const Run& run);
  int rows_ = 0, faster_ = 0;
  double product_ = 1;  ///< of the ratios
};

}  // namespace strew::bench
