// The table of `./dev bench costs`: a row per case and number of threads, and how many rows are near the best candidate.
#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "strew/schedule.h"

namespace strew::bench {

class Table : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

 private:
  int rows_ = 0, near_ = 0, close_ = 0;
  std::vector<std::string> missed_;
  std::vector<double> planning_;  ///< microseconds
};

/// "owner v64 u4 p16 streaming".
std::string short_text(const Schedule& schedule);

}  // namespace strew::bench
