// The tuner on the suite, and the speed of wisdom: `./dev bench tune`.
//
// For each case of the suite (bench/cases) and for one thread and two, the tuner looks for the fastest schedule, and a table compares
// three: one thread without any choice ("plain": the first sequential candidate that was measured), the default, which is the cost
// model's choice, and the tuned one with its confidence interval. The last rows are the times of wisdom itself: a file of 10,000 records
// is read, and ops are looked up in it.
//
//   bench_tune [--benchmark_filter=REGEX] [--seconds=N] [--wisdom=FILE]
//       --seconds  budget per case and number of threads (default 3)
//       --wisdom   keep what is measured, and do not measure again what it has
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "backends/pipeline.h"
#include "base/machine.h"
#include "base/machine_costs.h"
#include "bench/cases/flags.h"
#include "bench/cases/ops.h"
#include "bench/measure.h"
#include "bench/tune/table.h"
#include "schedules/wisdom/learned.h"
#include "schedules/wisdom/wisdom_file.h"
#include "strew/wisdom.h"
#include "tune/tuner.h"

namespace strew::bench {
namespace {

struct Settings {
  double seconds = 3;
  std::string wisdom;
};
Settings& settings() {
  static Settings settings;
  return settings;
}

const char* distribution_of(Spread spread) {
  switch (spread) {
    case Spread::unique:
      return "permutation";
    case Spread::zipf:
      return "zipf(1)";
    case Spread::hot:
      return "hot(0.5)";
    case Spread::sorted:
      return "sorted";
    case Spread::uniform:
    case Spread::position:
      break;
  }
  return "uniform";
}

Expected<TuningTask> task_of(const Case& c, int threads) {
  STREW_ASSIGN(Op op, suite_op(c));
  STREW_ASSIGN(VerifiedOp verified, VerifiedOp::of(std::move(op)));
  const char* const temperature = c.table_bytes() > machine().l3_bytes / 2 ? "cold" : "hot";
  STREW_ASSIGN(InventedUsage usage, invent_usage(verified, {{}, distribution_of(c.spread), temperature, threads, 1}));
  return TuningTask{c.name, std::move(verified), std::move(usage.usage), {}};
}

void run_case(benchmark::State& state, const Case& c, int threads) {
  const Expected<TuningTask> task = task_of(c, threads);
  if (!task.ok()) return fail(state, task.status().message());
  TunerSettings tuner;
  tuner.budget_seconds = settings().seconds;
  tuner.wisdom_file = settings().wisdom;
  const Expected<TuningResult> result = tune({*task}, tuner);
  if (!result.ok()) return fail(state, result.status().message());
  const TunedOp& op = result->ops[0];
  if (!op.failure.empty()) return fail(state, op.failure);
  const TunedCandidate &standard = op.candidates[op.default_at], &winner = op.candidates[op.winner_at];
  for (auto _ : state) state.SetIterationTime(standard.nanoseconds * 1e-9);
  state.counters["default_ns"] = standard.nanoseconds;
  for (const TunedCandidate& each : op.candidates) {
    if (!each.is_measured || each.schedule.strategy != Strategy::sequential) continue;
    state.counters["plain_ns"] = standard.nanoseconds * each.ratio;
    break;
  }
  const bool has_winner = op.winner_at != op.default_at;
  state.counters["ratio"] = has_winner ? winner.ratio : 1;
  state.counters["low"] = has_winner ? winner.ratio_low : 1;
  state.counters["high"] = has_winner ? winner.ratio_high : 1;
  state.counters["memcpy_ns"] = op.memcpy_ns;
  state.counters["limit_ns"] = op.limit_ns;
  state.counters["seconds"] = op.seconds;
  state.counters["candidates"] = static_cast<double>(op.candidates.size());
  state.SetLabel(has_winner ? difference(winner, standard) : "");
}

VerifiedOp gather_of(int64_t rows) {
  const std::string text = fmt::format(
      "strew1.gather(operand=f32[{},16] indices=i32[4096] result=f32[4096,16] offset_dims=[1] collapsed_slice_dims=[0] "
      "start_index_map=[0] "
      "index_vector_dim=1 slice_sizes=[1,16])",
      rows);
  return *VerifiedOp::of(*parse_op(text));
}

/// A file of 10,000 records: of 1,000 sizes of a gather, each with ten candidates, of which four were confirmed.
std::string large_wisdom() {
  constexpr int kSizes = 1000, kCandidates = 10;
  const std::string path = std::filesystem::temp_directory_path() / fmt::format("strew_bench_wisdom_{}.jsonl", getpid());
  std::vector<WisdomRecord> records;
  KernelOptions options;
  options.threads = 2;
  options.wisdom = Wisdom::none();
  const Compiled first = *plan_kernel(gather_of(64), options);
  for (int size = 0; size < kSizes; ++size) {
    const int64_t rows = 64 + 64 * size;
    WisdomRecord r;
    r.family = family_of(first.identity);
    r.op = print(*gather_of(rows));
    r.shape = {4096, 64, static_cast<double>(64 * rows)};
    r.indices = "uniform";
    r.temperature = "hot";
    r.threads = 2;
    r.backend = "llvm";
    r.machine = machine_key(machine());
    r.features = features_key(first.target);
    r.generator = generator_version();
    r.date = "2026-11-23T00:00:00Z";
    r.rounds = 39;
    for (int i = 0; i < kCandidates; ++i) {
      Schedule schedule = first.schedule;
      schedule.prefetch = 8 * i;
      r.schedule = print(schedule);
      r.is_default = i == 0;
      r.is_confirmed = i < 4;
      r.ratio = i == 0 ? 1 : 0.7 + 0.03 * i;
      r.ratio_low = r.ratio - 0.01;
      r.ratio_high = r.ratio + 0.01;
      r.nanoseconds = 1000 * r.ratio;
      records.push_back(r);
    }
  }
  std::filesystem::remove(path);
  if (!append_wisdom(path, records).ok()) return "";
  return path;
}

/// Reads 10,000 records and looks up an op of the family that they all belong to: the first look-up sums the family up.
void load_wisdom(benchmark::State& state) {
  const std::string path = large_wisdom();
  const Compiled planned = *plan_kernel(gather_of(128), {.threads = 2, .wisdom = Wisdom::none()});
  const WisdomQuestion question{family_of(planned.identity), planned.identity_text,       shape_features(planned.plan), false, 2,
                                machine_key(machine()),      features_key(planned.target)};
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    const Expected<std::shared_ptr<const Wisdom>> wisdom = Wisdom::load(path);
    const auto loaded = std::chrono::steady_clock::now();
    if (!wisdom.ok() || look_up(**wisdom, question).step != WisdomStep::exact) return fail(state, "the records were not found");
    const auto found = std::chrono::steady_clock::now();
    state.SetIterationTime(std::chrono::duration<double>(found - start).count());
    state.counters["load_ms"] = std::chrono::duration<double, std::milli>(loaded - start).count();
    state.counters["first_look_up_ms"] = std::chrono::duration<double, std::milli>(found - loaded).count();
  }
  std::filesystem::remove(path);
}

void look_up_wisdom(benchmark::State& state, int64_t rows, WisdomStep expected) {
  const std::string path = large_wisdom();
  const std::shared_ptr<const Wisdom> wisdom = *Wisdom::load(path);
  std::filesystem::remove(path);
  const Compiled planned = *plan_kernel(gather_of(rows), {.threads = 2, .wisdom = Wisdom::none()});
  const WisdomQuestion question{family_of(planned.identity), planned.identity_text,       shape_features(planned.plan), false, 2,
                                machine_key(machine()),      features_key(planned.target)};
  if (look_up(*wisdom, question).step != expected) return fail(state, "another step answered");
  constexpr int kTimes = 1000;
  for (auto _ : state) {
    const double each = nanoseconds(
        [&](int64_t times) {
          for (int64_t i = 0; i < times; ++i) benchmark::DoNotOptimize(look_up(*wisdom, question));
        },
        kTimes);
    state.SetIterationTime(each * 1e-9);
    state.counters["look_up_ns"] = each;
  }
}

}  // namespace
}  // namespace strew::bench

int main(int argc, char** argv) {
  using namespace strew::bench;
  settings().seconds = std::max(0.1, std::atof(take_flag(argc, argv, "seconds", "3").c_str()));
  settings().wisdom = take_flag(argc, argv, "wisdom", "");
  for (const Case& c : suite_cases())
    for (const int threads : {1, 2})
      benchmark::RegisterBenchmark(fmt::format("{}/T{}", c.name, threads).c_str(),
                                   [&c, threads](benchmark::State& state) { run_case(state, c, threads); })
          ->UseManualTime()
          ->Iterations(1);
  benchmark::RegisterBenchmark("wisdom/load_10000", load_wisdom)->UseManualTime()->Iterations(7);
  const auto look_up = [](const char* name, int64_t rows, strew::WisdomStep step) {
    benchmark::RegisterBenchmark(name, [rows, step](benchmark::State& state) { look_up_wisdom(state, rows, step); })
        ->UseManualTime()
        ->Iterations(50);
  };
  look_up("wisdom/look_up_exact", 128, strew::WisdomStep::exact);
  look_up("wisdom/look_up_nearest", 100, strew::WisdomStep::nearest_shape);
  TuningTable table;
  return run_all(argc, argv, &table);
}
