// The suite's table: a row per case and number of threads, printed as each case ends.
#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <utility>
#include <vector>

namespace strew::bench {

/// "1234 ns", "12.3 us"
std::string show(double nanoseconds);

class Table : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

 private:
  int cases_ = 0, met_ = 0;
  std::vector<std::string> missed_;
};

/// The same for --backends: another backend's time over llvm's.
class BackendsTable : public benchmark::BenchmarkReporter {
 public:
  explicit BackendsTable(std::string other) : other_(std::move(other)) {}
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;

 private:
  std::string other_;
};

}  // namespace strew::bench
