// See table.h. Columns: the chosen schedule's time, as predicted and as measured, the fastest candidate's, the median ratio
// of the two within a round with its 10th and 90th percentile, and how many candidates took turns.
#include "bench/costs/table.h"

#include <fmt/format.h>

#include <algorithm>

namespace strew::bench {
namespace {

constexpr double kNear = 1.1, kClose = 1.25;

std::string show(double nanoseconds) {
  if (nanoseconds < 1e4) return fmt::format("{:.0f} ns", nanoseconds);
  if (nanoseconds < 1e6) return fmt::format("{:.1f} us", nanoseconds / 1e3);
  return fmt::format("{:.2f} ms", nanoseconds / 1e6);
}

}  // namespace

std::string short_text(const Schedule& s) {
  return fmt::format("{} v{} u{} p{}{}", name(s.strategy), s.vector_bytes, s.unroll, s.prefetch,
                     s.nontemporal ? " streaming" : "");
}

bool Table::ReportContext(const Context&) {
  GetOutputStream() << fmt::format("{:34} {:>2} {:>10} {:>10} {:>10} {:>7} {:>13} {:>4}  {}\n", "case", "T", "predicted",
                                   "measured", "best", "x best", "p10..p90", "of", "chosen | best");
  return true;
}

void Table::ReportRuns(const std::vector<Run>& runs) {
  std::ostream& out = GetOutputStream();
  for (const Run& run : runs) {
    if (run.error_occurred) {
      out << fmt::format("{:34} FAILED: {}\n", run.benchmark_name(), run.error_message) << std::flush;
      continue;
    }
    const auto number = [&](const char* name) {
      const auto found = run.counters.find(name);
      return found == run.counters.end() ? 0.0 : found->second.value;
    };
    const double ratio = number("x_best");
    planning_.push_back(number("planning_us"));
    ++rows_;
    near_ += ratio <= kNear ? 1 : 0;
    close_ += ratio <= kClose ? 1 : 0;
    if (ratio > kNear) missed_.push_back(fmt::format("{} {:.2f}", run.run_name.function_name, ratio));
    const std::string& name = run.run_name.function_name;
    out << fmt::format("{:34} {:>2} {:>10} {:>10} {:>10} {:>7.2f} {:>5.2f}..{:<5.2f} {:>4}  {}\n", name.substr(0, name.find('/')),
                       number("threads"), show(number("predicted_ns")), show(number("chosen_ns")), show(number("best_ns")), ratio,
                       number("x_best_p10"), number("x_best_p90"), number("candidates"), run.report_label)
        << std::flush;
  }
}

void Table::Finalize() {
  if (rows_ == 0) return;
  GetOutputStream() << fmt::format(
      "of {} rows, {:.0f} % are within {} of the best candidate and {:.0f} % within {}; beyond {}: {}\n", rows_,
      100.0 * near_ / rows_, kNear, 100.0 * close_ / rows_, kClose, kNear, fmt::join(missed_, ", "));
  std::sort(planning_.begin(), planning_.end());
  GetOutputStream() << fmt::format("choosing a schedule took {:.1f} us in the median and {:.1f} us at most\n",
                                   planning_[planning_.size() / 2], planning_.back());
}

}  // namespace strew::bench
