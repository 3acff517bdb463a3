// See table.h.
#include "bench/tune/table.h"

#include <fmt/format.h>

#include <cmath>

namespace strew::bench {
namespace {

std::string micros(double ns) { return ns > 0 ? fmt::format("{:.2f}", ns / 1e3) : "-"; }

double counter(const benchmark::BenchmarkReporter::Run& run, const char* name) {
  const auto found = run.counters.find(name);
  return found == run.counters.end() ? 0 : found->second.value;
}

}  // namespace

bool TuningTable::ReportContext(const Context&) {
  fmt::print("{:<34} {:>10} {:>10} {:>10} {:>18} {:>9} {:>5}  {}\n", "case", "plain us", "default us", "tuned us",
             "tuned over default", "x memcpy", "cand.", "what the winner changes");
  return true;
}

void TuningTable::report(const Run& run) {
  const std::string name = run.benchmark_name().substr(0, run.benchmark_name().find("/iterations"));
  if (run.error_occurred) {
    fmt::print("{:<34} {}\n", name, run.error_message);
    return;
  }
  const double standard = counter(run, "default_ns"), ratio = counter(run, "ratio");
  if (standard == 0) {
    fmt::print("{:<34}", name);
    for (const auto& [what, value] : run.counters) fmt::print(" {} {:.4g}", what, static_cast<double>(value.value));
    fmt::print("\n");
    return;
  }
  ++rows_;
  faster_ += ratio < 1 ? 1 : 0;
  product_ *= ratio;
  const std::string range =
      ratio < 1 ? fmt::format("{:.2f} ({:.2f}..{:.2f})", ratio, counter(run, "low"), counter(run, "high")) : std::string("1");
  fmt::print("{:<34} {:>10} {:>10} {:>10} {:>18} {:>9.2f} {:>5.0f}  {}\n", name, micros(counter(run, "plain_ns")),
             micros(standard), micros(standard * ratio), range, standard * ratio / counter(run, "memcpy_ns"),
             counter(run, "candidates"), run.report_label);
  std::fflush(stdout);
}

void TuningTable::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) report(run);
}

void TuningTable::Finalize() {
  if (rows_ == 0) return;
  fmt::print("{} rows: tuned is faster in {}, and takes {:.3f} of the default's time in the geometric mean\n", rows_, faster_,
             std::pow(product_, 1.0 / rows_));
}

}  // namespace strew::bench
