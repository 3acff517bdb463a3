// The suite: strew through its public API, kernel already built, against hand-written kernels and streaming, `./dev bench suite`.
//
// Every case is checked first, for one thread and for two: each kernel's result must be the bits of plain in-order loops (data.h), and for
// small cases also those of the reference backend; sums are checked on numbers whose every order rounds differently. Hand-written ways
// are checked too. Then all ways that are not clearly slower take turns: strew, the hand-written ones (for two threads also those that use
// one), and streaming. Ratios are medians over rounds. A sample in which our threads had to wait for a core is taken again; the process
// raises its own priority where it may (not with --polite).
//
//   bench_suite [--benchmark_filter=REGEX] [--rounds=N] [--schedule=KNOBS] [--polite]
//                                                                    the table; all of Google Benchmark's flags
//   bench_suite --cases                                                the cases as JSON
//   bench_suite --write=CASE --folder=DIR                              the case's inputs and result, for bench/peers
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <thread>

#include "backends/reference/reference.h"
#include "bench/measure.h"
#include "bench/suite/hand.h"
#include "bench/suite/ops.h"
#include "bench/suite/table.h"
#include "runtime/kernel.h"

namespace strew::bench {
namespace {

constexpr int kThreads[] = {1, 2};
constexpr double kTarget = 1.1;
/// What the API may cost on top of a kernel too short for a ratio.
constexpr double kApiNanoseconds = 60, kShort = 1000;

/// Knobs to set over the heuristic's choice (--schedule).
std::string& forced_schedule() {
  static std::string knobs;
  return knobs;
}

/// One case, ready to be timed.
struct Work {
  Data data;
  Memory table, into, copy;  ///< what calls write
  std::vector<Kernel> kernels;
  std::unique_ptr<Calls> calls;
  std::string wrong;  ///< why it must not be timed

  explicit Work(const Case& c);
  HandTarget target() const { return {table.data(), into.data(), copy.data()}; }
  char* result() const { return data.c.gathers() ? into.data() : data.c.mode == Mode::copied ? copy.data() : table.data(); }
  size_t result_bytes() const { return data.c.gathers() ? into.size() : table.size(); }
  void reset() const;
  std::string differs(const char* who, const char* from) const;
  std::string check_kernels(const Op& op, const char* expected) const;
  std::string check_hand(const char* expected) const;
  std::string check(const Op& op);
};

void Work::reset() const {
  std::memcpy(table.data(), data.table.data(), table.size());
  std::memset(result(), 0x33, data.c.gathers() || data.c.mode == Mode::copied ? result_bytes() : 0);
}

std::string Work::differs(const char* who, const char* from) const {
  if (std::memcmp(result(), from, result_bytes()) == 0) return {};
  size_t at = 0;
  while (result()[at] == from[at]) ++at;
  return fmt::format("{} differs from plain loops at byte {} of {}", who, at, result_bytes());
}

std::string Work::check_kernels(const Op& op, const char* expected) const {
  for (const Kernel& kernel : kernels) {
    reset();
    const Status status = kernel.run(calls->set(0));
    if (!status.ok()) return status.message();
    const std::string who = fmt::format("strew with {} threads", kernel.schedule().threads);
    if (std::string wrong = differs(who.c_str(), expected); !wrong.empty()) return wrong;
  }
  constexpr int64_t kSmall = 8 << 20;
  if (data.c.table_bytes() + data.c.source_bytes() > kSmall) return {};
  reset();
  const Status status = run_reference(op, calls->set(0));
  return status.ok() ? differs("the reference", expected) : status.message();
}

std::string Work::check_hand(const char* expected) const {
  for (const int threads : kThreads) {
    hand_pool().wake(threads);
    for (const HandWay& way : hand_ways(data, target(), threads)) {
      reset();
      way.run(0, 1);
      if (std::string wrong = differs(way.name.c_str(), expected); !wrong.empty()) return wrong;
    }
    hand_pool().sleep();
  }
  return {};
}

std::string Work::check(const Op& op) {
  const Case& c = data.c;
  Memory expected(c.table_bytes()), gathered(c.source_bytes());
  if (!expected || !gathered) return "not enough memory";
  const char* result = c.gathers() ? gathered.data() : expected.data();
  const auto compute = [&] {
    std::memcpy(expected.data(), data.table.data(), expected.size());
    plain_result(data, 0, expected.data(), gathered.data());
  };
  const bool order_shows = c.reads_table() && c.dtype != DType::i32 && c.mode != Mode::relaxed;
  if (order_shows) {
    fill_numbers(c, data.source, 11, false);
    fill_numbers(c, data.table, 12, false);
  }
  compute();
  if (std::string wrong = check_kernels(op, result); !wrong.empty()) return wrong;
  if (order_shows) {
    fill_numbers(c, data.source, 8);
    fill_numbers(c, data.table, 7);
    compute();
  }
  return check_hand(result);
}

Work::Work(const Case& c) : data(make_data(c)), table(c.table_bytes()) {
  if (c.gathers()) into = Memory(c.source_bytes());
  if (c.mode == Mode::copied) copy = Memory(c.table_bytes());
  if (!data.table || !data.source || !table || (result() == nullptr)) {
    wrong = "not enough memory";
    return;
  }
  const Expected<Op> op = suite_op(c);
  if (!op.ok()) {
    wrong = op.status().message();
    return;
  }
  for (const int threads : kThreads) {
    KernelOptions options;
    options.threads = threads;
    options.schedule = forced_schedule();
    const Expected<Kernel> kernel = Runtime::process().get(*op, options);
    if (!kernel.ok() || (kernel->range_entry() == nullptr && c.mode != Mode::wide)) {
      wrong = kernel.ok() ? "no machine code was built" : kernel.status().message();
      return;
    }
    kernels.push_back(*kernel);
  }
  calls = std::make_unique<Calls>(kernels[0].op(), data, result());
  wrong = check(*op);
  reset();
}

/// The last case's work: its rows for one and two threads share the inputs.
Work& work_of(const Case& c) {
  static std::unique_ptr<Work> work;
  if (!work || work->data.c.name != c.name) {
    work.reset();
    work = std::make_unique<Work>(c);
  }
  return *work;
}

/// Long enough for another pool's workers to stop spinning.
void settle() { std::this_thread::sleep_for(std::chrono::microseconds(300)); }

Way strew_way(const Work& work, const Kernel& kernel) {
  Way way;
  way.name = "strew";
  way.run = [&work, kernel, set = int64_t{0}](int64_t calls) mutable {
    for (int64_t i = 0; i < calls; ++i, set = set + 1 == work.data.c.sets ? 0 : set + 1) {
      if (!kernel.run(work.calls->set(set)).ok()) any_failed() = true;
    }
  };
  return way;
}

/// Those of `candidates` that are not clearly slower than the best, as ways that wake the pool for their turn.
std::vector<Way> fastest(const std::vector<HandWay>& candidates, int64_t sets) {
  constexpr double kClearly = 1.3;
  std::vector<double> times;
  for (const HandWay& hand : candidates) {
    if (hand.threads > 1) settle(), hand_pool().wake(hand.threads);
    const auto run = [&](int64_t calls) { hand.run(0, calls); };
    double best = nanoseconds(run, 1);
    for (int i = 0; i < 2 && best < 50e6; ++i) best = std::min(best, nanoseconds(run, best < 1e5 ? 64 : 1));
    times.push_back(best);
    hand_pool().sleep();
  }
  std::vector<Way> ways;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (times[i] > kClearly * *std::min_element(times.begin(), times.end())) continue;
    const HandWay& hand = candidates[i];
    Way way;
    way.name = hand.name + (hand.threads > 1 ? "" : " (T=1)");
    way.run = [run = hand.run, sets, set = int64_t{0}](int64_t calls) mutable {
      run(set, calls);
      set = (set + calls) % sets;
    };
    if (hand.threads > 1) {
      way.before = [n = hand.threads] { settle(), hand_pool().wake(n); };
      way.after = [] { hand_pool().sleep(); };
    }
    ways.push_back(std::move(way));
  }
  return ways;
}

std::vector<HandWay> up_to(int threads, std::vector<HandWay> (*make)(const Data&, const HandTarget&, int), const Work& work) {
  std::vector<HandWay> all;
  for (const int n : kThreads) {
    if (n > threads) continue;
    for (HandWay& way : make(work.data, work.target(), n)) all.push_back(std::move(way));
  }
  return all;
}

void report(benchmark::State& state, const Work& work, int threads, const Turns& turns, size_t hands,
            const std::vector<Way>& ways) {
  const Medians medians = turns.medians();
  const auto best_of = [&](size_t begin, size_t end) {
    size_t best = begin;
    for (size_t i = begin; i < end; ++i) best = medians[i] < medians[best] ? i : best;
    return best;
  };
  const bool pairs = work.data.c.action == Action::nd_add;
  const size_t limit = best_of(1, 1 + hands), stream = best_of(1 + hands, ways.size() - (pairs ? 1 : 0));
  auto& counters = state.counters;
  counters["threads"] = threads;
  counters["bytes"] = static_cast<double>(work.data.c.bytes_moved());
  counters["strew_ns"] = medians[0];
  counters["limit_ns"] = medians[limit];
  counters["stream_ns"] = medians[stream];
  counters["x_limit"] = turns.ratio(0, limit);
  counters["x_limit_p10"] = turns.ratio(0, limit, 0.1);
  counters["x_limit_p90"] = turns.ratio(0, limit, 0.9);
  counters["x_stream"] = turns.ratio(0, stream);
  if (pairs) counters["gain_over_strides"] = turns.ratio(ways.size() - 1, 0);
  const bool is_short = medians[limit] < kShort;
  counters["met"] = is_short ? medians[0] <= medians[limit] + kApiNanoseconds : turns.ratio(0, limit) <= kTarget;
  std::string label = ways[limit].name + " | " + print(work.kernels[static_cast<size_t>(threads - 1)].schedule());
  if (pairs) label += fmt::format(" | {:.1f} times the speed of run-time strides", turns.ratio(ways.size() - 1, 0));
  state.SetLabel(label);
}

void run_case(benchmark::State& state, const Case& c, int threads) {
  const Work& work = work_of(c);
  if (!work.wrong.empty()) return fail(state, work.wrong);
  std::vector<Way> ways = {strew_way(work, work.kernels[static_cast<size_t>(threads - 1)])};
  const std::vector<Way> hands = fastest(up_to(threads, hand_ways, work), c.sets),
                         streams = fastest(up_to(threads, stream_ways, work), c.sets);
  ways.insert(ways.end(), hands.begin(), hands.end());
  ways.insert(ways.end(), streams.begin(), streams.end());
  if (c.action == Action::nd_add) ways.push_back(fastest({run_time_strides(work.data, work.target())}, c.sets)[0]);
  Turn turn;
  turn.batch_nanoseconds = 500e3;
  turn.warm_nanoseconds = 400e3;
  turn.retries = 4;
  turn.most_nanoseconds = 2e9;
  const Turns turns = time_in_turns(state, ways, c.sets, turn);
  report(state, work, threads, turns, hands.size(), ways);
  state.SetBytesProcessed(state.iterations() * c.bytes_moved());
}

/// The value of --NAME=VALUE, taken out of the arguments; `missing` when it is not there.
std::string take_flag(int& argc, char** argv, const std::string& flag, std::string missing = "") {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument != "--" + flag && !argument.starts_with("--" + flag + "=")) continue;
    missing = argument.size() > flag.size() + 3 ? argument.substr(flag.size() + 3) : "yes";
    std::move(argv + i + 1, argv + argc, argv + i);
    --argc;
    break;
  }
  return missing;
}

int write_case(const std::string& wanted, const std::string& folder) {
  for (const Case& c : suite_cases()) {
    if (c.name != wanted) continue;
    const Data data = make_data(c);
    if (data.table && data.source && write_files(data, folder)) return 0;
    std::cerr << "bench_suite: cannot write " << folder << '\n';
    return 1;
  }
  std::cerr << "bench_suite: no case '" << wanted << "'\n";
  return 2;
}

}  // namespace
}  // namespace strew::bench

int main(int argc, char** argv) {
  using namespace strew::bench;
  if (!take_flag(argc, argv, "cases").empty()) {
    std::cout << cases_json();
    return 0;
  }
  const std::string folder = take_flag(argc, argv, "folder", "."), wanted = take_flag(argc, argv, "write");
  if (!wanted.empty()) return write_case(wanted, folder);
  const int rounds = std::max(1, std::atoi(take_flag(argc, argv, "rounds", "11").c_str()));
  forced_schedule() = take_flag(argc, argv, "schedule");
  if (take_flag(argc, argv, "polite").empty()) setpriority(PRIO_PROCESS, 0, -15);
  for (const Case& c : suite_cases()) {
    for (const int threads : kThreads) {
      benchmark::RegisterBenchmark((c.name + "/T" + std::to_string(threads)).c_str(),
                                   [&c, threads](benchmark::State& state) { run_case(state, c, threads); })
          ->UseManualTime()
          ->Iterations(rounds);
    }
  }
  Table table;
  return run_all(argc, argv, &table);
}
