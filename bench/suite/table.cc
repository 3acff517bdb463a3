// Columns: bytes moved (cases.h says what counts), strew's median time, the best hand-written way's in the same rounds, the median ratio
// with its 10th and 90th percentile over the rounds, the ratio to streaming as many bytes, and what strew moves per second. `*` marks a
// row beyond its target.
#include "bench/suite/table.h"

#include <fmt/format.h>

namespace strew::bench {

std::string show(double nanoseconds) {
  if (nanoseconds < 1e4) return fmt::format("{:.0f} ns", nanoseconds);
  if (nanoseconds < 1e6) return fmt::format("{:.1f} us", nanoseconds / 1e3);
  return fmt::format("{:.2f} ms", nanoseconds / 1e6);
}

namespace {

std::string show_bytes(double bytes) {
  return bytes < 1e6 ? fmt::format("{:.1f} KB", bytes / 1e3) : fmt::format("{:.1f} MB", bytes / 1e6);
}

double counter(const benchmark::BenchmarkReporter::Run& run, const char* name) {
  const auto found = run.counters.find(name);
  return found == run.counters.end() ? 0.0 : found->second.value;
}

}  // namespace

bool BackendsTable::ReportContext(const Context& context) {
  std::ostream& out = GetOutputStream();
  out << fmt::format("{} cores, load", context.cpu_info.num_cpus);
  for (const double load : context.cpu_info.load_avg) out << fmt::format(" {:.2f}", load);
  out << fmt::format("\n{:34} {:>2} {:>9} {:>10} {:>10} {:>15} {:>13}  {:>22}  {}\n", "case", "T", "row bytes", "llvm", other_,
                     other_ + " / llvm", "p10..p90", "compile: llvm, " + other_, "schedule");
  return true;
}

void BackendsTable::ReportRuns(const std::vector<Run>& runs) {
  std::ostream& out = GetOutputStream();
  for (const Run& run : runs) {
    const std::string& name = run.run_name.function_name;
    if (run.error_occurred) {
      out << fmt::format("{:34} FAILED: {}\n", run.benchmark_name(), run.error_message) << std::flush;
      continue;
    }
    out << fmt::format("{:34} {:>2} {:>9} {:>10} {:>10} {:>15.2f} {:>6.2f}..{:<5.2f}  {:>7.1f} ms {:>9.3f} ms  {}\n",
                       name.substr(0, name.find('/')), counter(run, "threads"), counter(run, "row_bytes"),
                       show(counter(run, "llvm_ns")), show(counter(run, (other_ + "_ns").c_str())), counter(run, "x_llvm"),
                       counter(run, "x_llvm_p10"), counter(run, "x_llvm_p90"), counter(run, "compile_llvm_ms"),
                       counter(run, ("compile_" + other_ + "_ms").c_str()), run.report_label)
        << std::flush;
  }
}

bool Table::ReportContext(const Context& context) {
  std::ostream& out = GetOutputStream();
  out << fmt::format("{} cores, load", context.cpu_info.num_cpus);
  for (const double load : context.cpu_info.load_avg) out << fmt::format(" {:.2f}", load);
  out << fmt::format("\n{:34} {:>2} {:>9} {:>10} {:>10} {:>9} {:>13} {:>9} {:>8}  {}\n", "case", "T", "bytes", "strew", "limit",
                     "x limit", "p10..p90", "x stream", "GB/s", "limit is | strew's schedule");
  return true;
}

void Table::ReportRuns(const std::vector<Run>& runs) {
  std::ostream& out = GetOutputStream();
  for (const Run& run : runs) {
    if (run.error_occurred) {
      out << fmt::format("{:34} FAILED: {}\n", run.benchmark_name(), run.error_message) << std::flush;
      continue;
    }
    const auto number = [&](const char* name) { return counter(run, name); };
    const bool met = number("met") != 0;
    ++cases_;
    met_ += met ? 1 : 0;
    if (!met) missed_.push_back(fmt::format("{} {:.2f}", run.run_name.function_name, number("x_limit")));
    const std::string& name = run.run_name.function_name;
    out << fmt::format("{:34} {:>2} {:>9} {:>10} {:>10} {:>8.2f}{} {:>5.2f}..{:<5.2f}  {:>9.2f} {:>8.1f}  {}\n",
                       name.substr(0, name.find('/')), number("threads"), show_bytes(number("bytes")), show(number("strew_ns")),
                       show(number("limit_ns")), number("x_limit"), met ? " " : "*", number("x_limit_p10"), number("x_limit_p90"),
                       number("x_stream"), number("bytes") / number("strew_ns"), run.report_label)
        << std::flush;
  }
}

void Table::Finalize() {
  GetOutputStream() << fmt::format("{} of {} rows within their target; beyond it: {}\n", met_, cases_, fmt::join(missed_, ", "));
}

}  // namespace strew::bench
