// What counts is the ratio of the two kernels' times within a round, of which the median is taken. A sample in which our threads waited for a core
// is taken again, unless the machine is made busy on purpose: then waiting is what is measured.
#include "bench/suite/threads.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>

#include "bench/measure.h"
#include "bench/suite/table.h"
#include "bench/suite/work.h"

namespace strew::bench {
namespace {

bool& is_busy() {
  static bool busy = false;
  return busy;
}

}  // namespace

void serve(const Way& way, double seconds) {
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds) way.run(16);
}

void run_threads(benchmark::State& state, const Case& c, double serve_seconds) {
  const Work& work = work_of(c);
  if (!work.wrong.empty()) return fail(state, work.wrong);
  std::vector<Way> ways;
  for (const int threads : kThreads)
    ways.push_back({fmt::format("T={}", threads), strew_calls(work, work.kernel(threads)), {}, {}});
  for (const Way& way : ways) serve(way, serve_seconds);
  Turn turn;
  turn.batch_nanoseconds = 500e3;
  turn.warm_nanoseconds = 2e6;  // strew wakes its workers after half a millisecond of work done alone
  turn.retries = is_busy() ? 0 : 4;
  turn.most_nanoseconds = 2e9;
  const Turns turns = time_in_turns(state, ways, c.sets, turn);
  const Medians medians = turns.medians();
  state.counters["one_ns"] = medians[0];
  state.counters["two_ns"] = medians[1];
  state.counters["x_one"] = turns.ratio(1, 0);
  state.counters["x_one_p10"] = turns.ratio(1, 0, 0.1);
  state.counters["x_one_p90"] = turns.ratio(1, 0, 0.9);
  state.SetLabel(print(work.kernel(kThreads[1]).schedule()));
}

BusyLoop::BusyLoop(bool wanted) {
  is_busy() = wanted;
  if (!wanted) return;
  process_ = fork();
  if (process_ != 0) return;
  volatile uint64_t count = 0;
  while (getppid() != 1) count = count + 1;
  _exit(0);
}

BusyLoop::~BusyLoop() {
  if (process_ <= 0) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

bool ThreadsTable::ReportContext(const Context& context) {
  std::ostream& out = GetOutputStream();
  out << fmt::format("{} cores, load", context.cpu_info.num_cpus);
  for (const double load : context.cpu_info.load_avg) out << fmt::format(" {:.2f}", load);
  out << fmt::format("\n{:34} {:>10} {:>10} {:>8} {:>13}  {}\n", "case", "T=1", "T=2", "T=2 / 1", "p10..p90", "schedule of T=2");
  return true;
}

void ThreadsTable::ReportRuns(const std::vector<Run>& runs) {
  std::ostream& out = GetOutputStream();
  for (const Run& run : runs) {
    const std::string& name = run.run_name.function_name;
    if (run.error_occurred) {
      out << fmt::format("{:34} FAILED: {}\n", name, run.error_message) << std::flush;
      continue;
    }
    if (run.run_type != Run::RT_Iteration) continue;
    const auto number = [&](const char* counter) { return run.counters.at(counter).value; };
    ratios_[name].push_back(number("x_one"));
    out << fmt::format("{:34} {:>10} {:>10} {:>7.2f}{} {:>5.2f}..{:<5.2f}  {}\n", name, show(number("one_ns")),
                       show(number("two_ns")), number("x_one"), number("x_one") > most_ ? "*" : " ", number("x_one_p10"),
                       number("x_one_p90"), run.report_label)
        << std::flush;
  }
}

void ThreadsTable::Finalize() {
  std::vector<std::string> slower;
  for (const auto& [name, ratios] : ratios_)
    if (*std::min_element(ratios.begin(), ratios.end()) > most_)
      slower.push_back(fmt::format("{} {:.2f}", name, *std::min_element(ratios.begin(), ratios.end())));
  GetOutputStream() << fmt::format("{} of {} cases take more than {} of the time with two threads in every one of {} runs: {}\n",
                                   slower.size(), ratios_.size(), most_, kThreadsRuns, fmt::join(slower, ", "));
}

}  // namespace strew::bench
