// The cost model against measurements: `./dev bench costs`.
//
// For each case of the suite (bench/cases) and for one thread and two, the legal candidates of schedules/candidates.cc are
// built and timed in turns, and what the heuristic chose is compared with the fastest of them. Candidates that are clearly
// slower in a first look are left out of the turns. A kernel that runs on one thread is the same for every strategy but
// `private`, so one thread has only these two. Before anything is timed, every candidate's result must have the bits of plain loops.
//
//   bench_costs [--benchmark_filter=REGEX] [--rounds=N] [--sweep] [--all] [--record=FILE | --from=FILE]
//       --sweep    instead of the suite: rows of 4 B to 16 KiB, tables from the first-level cache to main memory, 10 to 10^7
//                  positions, random and sorted; added and gathered (`./dev bench sweep`)
//       --all      also vary vector_bytes and unroll
//       --record   append every candidate's time as a line of JSON
//       --from     compare the heuristic's choice with times that were recorded, and measure nothing
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "backends/pipeline.h"
#include "bench/cases/flags.h"
#include "bench/cases/ops.h"
#include "bench/costs/table.h"
#include "bench/measure.h"
#include "schedules/costs/predict.h"
#include "schedules/schedule.h"
#include "strew/runtime.h"
#include "strew/wisdom.h"

namespace strew::bench {
namespace {

constexpr int kThreads[] = {1, 2};

struct Settings {
  int rounds = 7;
  bool all = false, sweep = false;
  std::string record, from;
};
Settings& settings() {
  static Settings settings;
  return settings;
}

/// A candidate with its kernel, and its time in a first look.
struct Built {
  Schedule schedule;
  Kernel kernel;
  double first_look = 0;
};

/// One case, its buffers, and what calls need.
struct Work {
  Data data;
  Memory into, copy;
  Expected<Op> op;
  std::unique_ptr<Calls> calls;

  explicit Work(const Case& c) : data(make_data(c)), op(suite_op(c)) {
    if (c.gathers()) into = Memory(c.source_bytes());
    if (c.mode == Mode::copied) copy = Memory(c.table_bytes());
    if (op.ok()) calls = std::make_unique<Calls>(*op, data, result());
  }
  char* result() const { return data.c.gathers() ? into.data() : data.c.mode == Mode::copied ? copy.data() : data.table.data(); }
};

Work& work_of(const Case& c) {
  static std::unique_ptr<Work> work;
  if (!work || work->data.c.name != c.name) {
    work.reset();
    work = std::make_unique<Work>(c);
  }
  return *work;
}

ScheduleOverrides all_of(const Schedule& s) {
  ScheduleOverrides over;
  over.strategy = s.strategy;
  over.vector_bytes = s.vector_bytes;
  over.unroll = s.unroll;
  over.prefetch = s.prefetch;
  over.nontemporal = s.nontemporal;
  over.adapts = s.adapts;
  return over;
}

/// A schedule with the strategy that it names, whatever the call.
Schedule fixed(Schedule schedule) {
  schedule.adapts = false;
  return schedule;
}

/// What differs between a kernel's result and that of plain loops (bench/cases/data.h); empty: no bit does. Numbers are whole, so that the
/// sums of every order have the same bits. Leaves the table as make_data() makes it.
std::string wrong_result(Work& work, const std::vector<Built>& built) {
  const Case& c = work.data.c;
  if (c.reads_table()) fill_numbers(c, work.data.table, 7);  // earlier calls have added to it
  const Memory& table = work.data.table;
  Memory start(c.table_bytes()), expected(c.table_bytes()), gathered(c.source_bytes());
  if (!start || !expected || !gathered) return "not enough memory";
  std::memcpy(start.data(), table.data(), table.size());
  std::memcpy(expected.data(), table.data(), table.size());
  plain_result(work.data, 0, expected.data(), gathered.data());
  const Memory& right = c.gathers() ? gathered : expected;
  std::string wrong;
  for (const Built& each : built) {
    if (work.result() != table.data()) std::memset(work.result(), 0x33, right.size());
    const Status status = each.kernel.run(work.calls->set(0));
    if (!status.ok())
      wrong = status.message();
    else if (std::memcmp(work.result(), right.data(), right.size()) != 0)
      wrong = "the result differs from that of plain loops";
    std::memcpy(table.data(), start.data(), table.size());
    if (!wrong.empty()) return print(each.schedule) + ": " + wrong;
  }
  return {};
}

/// Microseconds in which the schedule is chosen.
double planning_time(const Compiled& planned, int threads) {
  constexpr int kTimes = 20;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kTimes; ++i) benchmark::DoNotOptimize(choose_schedule(planned.plan, planned.target, threads));
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / kTimes;
}

/// The candidates worth timing with that many threads.
std::vector<Schedule> wanted(const Compiled& planned, int threads) {
  ScheduleChoices choices = schedule_choices(planned.plan, planned.target);
  if (!settings().all) {
    choices.vector_bytes.resize(1);
    std::erase_if(choices.unroll, [&](const KnobChoice& c) { return c.value != planned.heuristic.unroll; });
    if (choices.unroll.empty()) choices.unroll = {{planned.heuristic.unroll, "", {}}};
  }
  std::vector<Schedule> list = candidates(choices);
  const bool relaxed = planned.plan.order == Order::relaxed;
  std::erase_if(list, [&](const Schedule& s) {
    // How many private tables a relaxed float sum has decides its bits, so that this is not a question of speed.
    if (relaxed && (s.strategy == Strategy::private_tables) != (planned.heuristic.strategy == Strategy::private_tables))
      return true;
    return threads == 1 && s.strategy != Strategy::sequential && s.strategy != planned.heuristic.strategy;
  });
  // The chosen one comes first, as calls run it.
  std::erase(list, fixed(planned.heuristic));
  list.insert(list.begin(), planned.heuristic);
  return list;
}

double predicted_time(const Compiled& planned, const Schedule& schedule, int threads) {
  return predict({workload_of(planned.plan), schedule, planned.target, threads}).total();
}

Expected<std::vector<Built>> build_all(const Op& op, const std::vector<Schedule>& schedules, int threads) {
  std::vector<Built> all;
  for (const Schedule& schedule : schedules) {
    KernelOptions options;
    options.schedule = all_of(schedule);
    options.wisdom = Wisdom::none();
    options.threads = threads;
    STREW_ASSIGN(Kernel kernel, Runtime::process().get(op, options));
    all.push_back({schedule, std::move(kernel), 0});
  }
  return all;
}

Way way_of(const Work& work, const Kernel& kernel) {
  return {"",
          [&work, kernel, set = int64_t{0}](int64_t calls) mutable {
            for (int64_t i = 0; i < calls; ++i, set = set + 1 == work.data.c.sets ? 0 : set + 1)
              if (!kernel.run(work.calls->set(set)).ok()) any_failed() = true;
          },
          {},
          {}};
}

Turn turn_for(int threads) {
  Turn turn;
  turn.batch_nanoseconds = 400e3;
  turn.warm_nanoseconds = threads > 1 ? 1.5e6 : 300e3;
  turn.retries = 3;
  turn.most_nanoseconds = 2e9;
  return turn;
}

void look_at(const Work& work, std::vector<Built>& all, int threads) {
  const Turn turn = turn_for(threads);
  for (Built& each : all) {
    const Way way = way_of(work, each.kernel);
    way.run(1);
    each.first_look = sample(way, calls_for(way, work.data.c.sets, turn.batch_nanoseconds), turn);
  }
}

/// Moves those that are clearly slower than the fastest to `slower`, but never the first, which is the chosen one.
void put_aside(std::vector<Built>& all, std::vector<Built>& slower) {
  constexpr double kClearly = 1.5;
  double least = all[0].first_look;
  for (const Built& each : all) least = std::min(least, each.first_look);
  const auto clearly =
      std::stable_partition(all.begin() + 1, all.end(), [&](const Built& each) { return each.first_look <= kClearly * least; });
  slower.assign(std::make_move_iterator(clearly), std::make_move_iterator(all.end()));
  all.erase(clearly, all.end());
}

void record(const Case& c, int threads, const std::vector<Built>& timed, const Turns& turns, const std::vector<Built>& slower) {
  if (settings().record.empty()) return;
  std::ofstream out(settings().record, std::ios::app);
  const auto line = [&](const Schedule& schedule, double nanoseconds) {
    out << nlohmann::json{{"case", c.name}, {"threads", threads}, {"schedule", print(schedule)}, {"ns", nanoseconds}}.dump()
        << '\n';
  };
  const double base = turns.medians()[0];
  for (size_t i = 0; i < timed.size(); ++i) line(timed[i].schedule, base * turns.ratio(i, 0));
  for (const Built& each : slower) line(each.schedule, each.first_look);
}

void report(benchmark::State& state, int threads, double predicted, const std::vector<Built>& built, const Turns& turns) {
  // The fastest by the ratio within a round: rounds differ more than candidates do.
  size_t best = 0;
  for (size_t i = 1; i < built.size(); ++i)
    if (turns.ratio(i, 0) < turns.ratio(best, 0)) best = i;
  state.counters["threads"] = threads;
  state.counters["predicted_ns"] = predicted;
  state.counters["candidates"] = static_cast<double>(built.size());
  state.counters["chosen_ns"] = turns.medians()[0];
  state.counters["best_ns"] = turns.medians()[best];
  state.counters["x_best"] = turns.ratio(0, best);
  state.counters["x_best_p10"] = turns.ratio(0, best, 0.1);
  state.counters["x_best_p90"] = turns.ratio(0, best, 0.9);
  const std::string chosen = short_text(built[0].schedule), fastest = short_text(built[best].schedule);
  state.SetLabel(best == 0 ? chosen : chosen + " | " + fastest);
}

void run_case(benchmark::State& state, const Case& c, int threads) {
  Work& work = work_of(c);
  if (!work.op.ok()) return fail(state, work.op.status().message());
  KernelOptions options;
  options.threads = threads;
  options.wisdom = Wisdom::none();
  const Expected<Compiled> planned = plan_kernel(*VerifiedOp::of(*work.op), options);
  if (!planned.ok()) return fail(state, planned.status().message());
  Expected<std::vector<Built>> built = build_all(*work.op, wanted(*planned, threads), threads);
  if (!built.ok()) return fail(state, built.status().message());
  if (const std::string wrong = wrong_result(work, *built); !wrong.empty()) return fail(state, wrong);
  std::vector<Built>&timed = *built, slower;
  look_at(work, timed, threads);
  put_aside(timed, slower);
  std::vector<Way> ways;
  for (const Built& each : timed) ways.push_back(way_of(work, each.kernel));
  const Turns turns = time_in_turns(state, ways, c.sets, turn_for(threads));
  record(c, threads, timed, turns, slower);
  state.counters["planning_us"] = planning_time(*planned, threads);
  report(state, threads, predicted_time(*planned, planned->heuristic, threads), timed, turns);
}

/// The case's recorded times, by schedule.
std::vector<std::pair<Schedule, double>> recorded(const Case& c, int threads) {
  std::vector<std::pair<Schedule, double>> times;
  std::ifstream in(settings().from);
  for (std::string text; std::getline(in, text);) {
    const nlohmann::json line = nlohmann::json::parse(text);
    if (line["case"] != c.name || line["threads"] != threads) continue;
    const Expected<Schedule> schedule = parse_schedule(line["schedule"].get<std::string>(), Schedule{});
    if (schedule.ok()) times.emplace_back(*schedule, line["ns"].get<double>());
  }
  return times;
}

/// What the heuristic would take of the recorded candidates.
void replay_case(benchmark::State& state, const Case& c, int threads) {
  const auto times = recorded(c, threads);
  const Expected<Op> op = suite_op(c);
  if (times.empty() || !op.ok()) return fail(state, times.empty() ? "no recorded times" : op.status().message());
  KernelOptions options;
  options.threads = threads;
  options.wisdom = Wisdom::none();
  const Expected<Compiled> planned = plan_kernel(*VerifiedOp::of(*op), options);
  if (!planned.ok()) return fail(state, planned.status().message());
  const auto is_chosen = [&](const auto& time) { return fixed(time.first) == fixed(planned->heuristic); };
  const auto found = std::find_if(times.begin(), times.end(), is_chosen);
  if (found == times.end()) return fail(state, "the time of the chosen schedule was not recorded: " + print(planned->heuristic));
  const auto& chosen = *found;
  const auto& best =
      *std::min_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  for (auto _ : state) state.SetIterationTime(chosen.second * 1e-9);
  state.counters["threads"] = threads;
  state.counters["predicted_ns"] = predicted_time(*planned, chosen.first, threads);
  state.counters["candidates"] = static_cast<double>(times.size());
  state.counters["planning_us"] = planning_time(*planned, threads);
  state.counters["chosen_ns"] = chosen.second;
  state.counters["best_ns"] = best.second;
  for (const char* counter : {"x_best", "x_best_p10", "x_best_p90"}) state.counters[counter] = chosen.second / best.second;
  state.SetLabel(fmt::format("{} | {} predicted {:.0f}", short_text(chosen.first), short_text(best.first),
                             predicted_time(*planned, best.first, threads)));
}

}  // namespace
}  // namespace strew::bench

int main(int argc, char** argv) {
  using namespace strew::bench;
  settings().rounds = std::max(1, std::atoi(take_flag(argc, argv, "rounds", "7").c_str()));
  settings().all = take_flag(argc, argv, "all", "") == "yes";
  settings().sweep = take_flag(argc, argv, "sweep", "") == "yes";
  settings().record = take_flag(argc, argv, "record", "");
  settings().from = take_flag(argc, argv, "from", "");
  const auto run = settings().from.empty() ? run_case : replay_case;
  setpriority(PRIO_PROCESS, 0, -15);
  const std::vector<Case> swept = settings().sweep ? sweep_cases() : std::vector<Case>{};
  for (const Case& c : settings().sweep ? swept : suite_cases()) {
    for (const int threads : kThreads) {
      benchmark::RegisterBenchmark((c.name + "/T" + std::to_string(threads)).c_str(),
                                   [&c, threads, run](benchmark::State& state) { run(state, c, threads); })
          ->UseManualTime()
          ->Iterations(settings().from.empty() ? settings().rounds : 1);
    }
  }
  Table table;
  return run_all(argc, argv, &table);
}
