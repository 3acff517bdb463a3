// The suite: strew through its public API, kernel already built, against hand-written kernels and streaming, `./dev bench suite`.
//
// Every case is checked first, for one thread and for two: each kernel's result must be the bits of plain in-order loops (data.h), and for
// small cases also those of the reference backend; sums are checked on numbers whose every order rounds differently. Hand-written ways
// are checked too. Then all ways that are not clearly slower take turns: strew, the hand-written ones (for two threads also those that use
// one), and streaming. Ratios are medians over rounds. A sample in which our threads had to wait for a core is taken again; the process
// raises its own priority where it may (not with --polite). Before it is timed, every kernel is called for two seconds (--serve), so that it has
// learned what kernels learn in service (docs/tuning.md, "Kernels that learn").
//
//   bench_suite [--benchmark_filter=REGEX] [--rounds=N] [--schedule=KNOBS] [--polite] [--serve=SECONDS]
//                                                                    the table; all of Google Benchmark's flags
//   bench_suite --backends=halide|portable [the same]                  that backend against llvm, both with llvm's schedule
//   bench_suite --compare-threads=1 [--sweep=1] [--busy=1] [the same]  two threads against one: the suite, or the sizes of `./dev bench sweep`;
//                                                                      beside another process that is busy
//   bench_suite --cases                                                the cases as JSON
//   bench_suite --worker=strew|hand --threads=N                        a worker of bench/peers, see worker.h
//   bench_suite --profile=CASE --way=strew|hand --threads=N            one way alone, for bench/profile.py; see profile.h
//   bench_suite --write=CASE --folder=DIR                              the case's inputs and result, for bench/peers
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <thread>

#include "bench/cases/flags.h"
#include "bench/measure.h"
#include "bench/suite/profile.h"
#include "bench/suite/table.h"
#include "bench/suite/threads.h"
#include "bench/suite/work.h"
#include "bench/suite/worker.h"

namespace strew::bench {
namespace {

constexpr double kTarget = 1.1;
/// What the API may cost on top of a kernel too short for a ratio.
constexpr double kApiNanoseconds = 60, kShort = 1000;

/// Knobs to set over the heuristic's choice (--schedule).
std::string& forced_schedule() {
  static std::string knobs;
  return knobs;
}

double& serve_seconds() {
  static double seconds = 1;
  return seconds;
}

/// Long enough for another pool's workers to stop spinning.
void settle() { std::this_thread::sleep_for(std::chrono::microseconds(300)); }

/// Those of `candidates` that are not clearly slower than the best, as ways that wake the pool for their turn.
std::vector<Way> fastest(const std::vector<HandWay>& candidates, int64_t sets) {
  constexpr double kClearly = 1.3;
  std::vector<double> times;
  for (const HandWay& hand : candidates) {
    if (hand.threads > 1) {
      settle();
      hand_pool().wake(hand.threads);
    }
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
      way.before = [n = hand.threads] {
        settle();
        hand_pool().wake(n);
      };
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
  std::string label = ways[limit].name + " | " + print(work.kernel(threads).schedule());
  if (pairs) label += fmt::format(" | {:.1f} times the speed of run-time strides", turns.ratio(ways.size() - 1, 0));
  state.SetLabel(label);
}

Turn strew_turn(int threads) {
  Turn turn;
  turn.batch_nanoseconds = 500e3;
  turn.warm_nanoseconds = threads > 1 ? 2e6 : 400e3;  // strew wakes its workers after half a millisecond of work done alone
  turn.retries = 4;
  turn.most_nanoseconds = 2e9;
  return turn;
}

void run_case(benchmark::State& state, const Case& c, int threads) {
  const Work& work = work_of(c, forced_schedule());
  if (!work.wrong.empty()) return fail(state, work.wrong);
  std::vector<Way> ways = {{"strew", strew_calls(work, work.kernel(threads)), {}, {}}};
  const std::vector<Way> hands = fastest(up_to(threads, hand_ways, work), c.sets),
                         streams = fastest(up_to(threads, stream_ways, work), c.sets);
  if (work.kernel(threads).descriptor().adapts != 0) serve(ways[0], serve_seconds());
  ways.insert(ways.end(), hands.begin(), hands.end());
  ways.insert(ways.end(), streams.begin(), streams.end());
  if (c.action == Action::nd_add) ways.push_back(fastest({run_time_strides(work.data, work.target())}, c.sets)[0]);
  const Turns turns = time_in_turns(state, ways, c.sets, strew_turn(threads));
  report(state, work, threads, turns, hands.size(), ways);
  state.SetBytesProcessed(state.iterations() * c.bytes_moved());
}

/// llvm, and the one that is compared with it.
std::vector<std::string>& compared_backends() {
  static std::vector<std::string> names = {"llvm", "halide"};
  return names;
}

/// Two backends: the kernels alone take turns.
void run_backends(benchmark::State& state, const Case& c, int threads) {
  const Work& work = work_of(c, forced_schedule(), compared_backends());
  if (!work.wrong.empty()) return fail(state, work.wrong);
  std::vector<Way> ways;
  for (size_t b = 0; b < compared_backends().size(); ++b)
    ways.push_back({compared_backends()[b], strew_calls(work, work.kernel(threads, b)), {}, {}});
  const Turns turns = time_in_turns(state, ways, c.sets, strew_turn(threads));
  const Medians medians = turns.medians();
  state.counters["threads"] = threads;
  state.counters["row_bytes"] = static_cast<double>(c.row_bytes());
  state.counters["llvm_ns"] = medians[0];
  const std::string& other = compared_backends()[1];
  state.counters[other + "_ns"] = medians[1];
  state.counters["x_llvm"] = turns.ratio(1, 0);
  state.counters["x_llvm_p10"] = turns.ratio(1, 0, 0.1);
  state.counters["x_llvm_p90"] = turns.ratio(1, 0, 0.9);
  state.counters["compile_llvm_ms"] = static_cast<double>(work.kernel(threads, 0).compile_nanoseconds()) * 1e-6;
  state.counters["compile_" + other + "_ms"] = static_cast<double>(work.kernel(threads, 1).compile_nanoseconds()) * 1e-6;
  state.SetLabel(print(work.kernel(threads).schedule()));
}

/// What the system calls its processor.
std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  std::string model, family, number;
  for (std::string line; std::getline(info, line) && !line.empty();) {
    const size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string value = line.substr(colon + 2);
    if (line.starts_with("model name")) model = value;
    if (line.starts_with("cpu family")) family = value;
    if (line.starts_with("model\t")) number = value;
  }
  return fmt::format("{}, family {} model {}", model, family, number);
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

int profile_from(const std::string& name, int argc, char** argv) {
  ProfileRequest request{name, take_flag(argc, argv, "way", "strew")};
  request.threads = std::atoi(take_flag(argc, argv, "threads", "1").c_str());
  request.seconds = std::atof(take_flag(argc, argv, "seconds", "3").c_str());
  request.schedule = forced_schedule();
  request.code = take_flag(argc, argv, "code");
  return profile(request);
}

int compare_threads(int argc, char** argv, int rounds) {
  constexpr double kMost = 1.05, kMostBusy = 1.3;
  const bool is_busy = !take_flag(argc, argv, "busy").empty();
  const BusyLoop busy(is_busy);
  for (const Case& c : take_flag(argc, argv, "sweep").empty() ? suite_cases() : sweep_cases())
    benchmark::RegisterBenchmark(c.name.c_str(), [&c](benchmark::State& state) { run_threads(state, c, serve_seconds()); })
        ->UseManualTime()
        ->Iterations(rounds)
        ->Repetitions(kThreadsRuns);
  ThreadsTable table(is_busy ? kMostBusy : kMost);
  return run_all(argc, argv, &table);
}

}  // namespace
}  // namespace strew::bench

int main(int argc, char** argv) {
  using namespace strew::bench;
  if (!take_flag(argc, argv, "cases").empty()) {
    std::cout << cases_json();
    return 0;
  }
  if (const std::string peer = take_flag(argc, argv, "worker"); !peer.empty()) {
    return serve(peer, std::atoi(take_flag(argc, argv, "threads", "1").c_str()));
  }
  const std::string folder = take_flag(argc, argv, "folder", "."), wanted = take_flag(argc, argv, "write");
  if (!wanted.empty()) return write_case(wanted, folder);
  forced_schedule() = take_flag(argc, argv, "schedule");
  serve_seconds() = std::atof(take_flag(argc, argv, "serve", "2").c_str());
  if (const std::string name = take_flag(argc, argv, "profile"); !name.empty()) return profile_from(name, argc, argv);
  const int rounds = std::max(1, std::atoi(take_flag(argc, argv, "rounds", "11").c_str()));
  const std::string compared = take_flag(argc, argv, "backends");
  const auto run = compared.empty() ? run_case : run_backends;
  if (compared == "portable") compared_backends()[1] = compared;
  if (!take_flag(argc, argv, "compare-threads").empty()) return compare_threads(argc, argv, rounds);
  if (take_flag(argc, argv, "polite").empty()) setpriority(PRIO_PROCESS, 0, -15);
  for (const Case& c : suite_cases()) {
    for (const int threads : kThreads) {
      benchmark::RegisterBenchmark((c.name + "/T" + std::to_string(threads)).c_str(),
                                   [&c, threads, run](benchmark::State& state) { run(state, c, threads); })
          ->UseManualTime()
          ->Iterations(rounds);
    }
  }
  benchmark::AddCustomContext("cpu", cpu_model());
  if (run == run_backends) {
    BackendsTable backends(compared_backends()[1]);
    return run_all(argc, argv, &backends);
  }
  Table table;
  return run_all(argc, argv, &table);
}
