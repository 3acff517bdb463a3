// Strategies that share updates out by destination, side by side: `./dev bench strategies`.
//
// f32 updates are added, in order, to single elements and to rows of 64 bytes of tables in and out of the caches; destinations are uniform,
// skewed (a tenth of them takes nine tenths), or one of them takes half. Strategies owner and radix take turns on 2, 4 and 8 threads, and
// `radix_over_owner` is the ratio of their times; `sequential_ns` is one thread's, per update. On a machine with fewer cores than threads a
// row says what oversubscription costs, not how a strategy scales: the label tells. Each strategy's result is one thread's, bit for bit,
// before anything is timed.
#include <fmt/format.h>

#include <cstring>
#include <random>
#include <vector>

#include "base/machine.h"
#include "bench/measure.h"
#include "strew/forms.h"
#include "strew/runtime.h"

namespace strew::bench {
namespace {

constexpr int kPoolThreads = 8;

enum class Skew : uint8_t { uniform, skewed, hot };
constexpr const char* kSkews[] = {"uniform", "skewed", "hot"};

struct Case {
  int64_t rows, width, updates;
  Skew skew;
};

struct Buffers {
  std::vector<float> table, values;
  std::vector<int32_t> indices;
  std::vector<int64_t> table_dims, update_dims;
  std::vector<TensorView> views;

  explicit Buffers(const Case& c)
      : table(static_cast<size_t>(c.rows * c.width)),
        values(static_cast<size_t>(c.updates * c.width)),
        indices(static_cast<size_t>(c.updates)),
        table_dims{c.rows, c.width},
        update_dims{c.updates, c.width} {
    std::mt19937_64 random(7);
    for (float& v : values) v = static_cast<float>(random() >> 40) * 1e-6F;  // every order of a sum rounds differently
    for (int32_t& i : indices) {
      i = static_cast<int32_t>(random() % static_cast<uint64_t>(c.rows));
      if (c.skew == Skew::skewed && random() % 10 != 0) i /= 10;
      if (c.skew == Skew::hot && random() % 2 != 0) i = static_cast<int32_t>(c.rows / 3);
    }
    clear();
    const int32_t rank = c.width == 1 ? 1 : 2;
    views = {{table.data(), DType::f32, rank, table_dims.data(), nullptr},
             {indices.data(), DType::i32, 1, update_dims.data(), nullptr},
             {values.data(), DType::f32, rank, update_dims.data(), nullptr}};
  }
  void clear() { std::fill(table.begin(), table.end(), 0.5F); }
};

Expected<Scatter> op_of(const Case& c) {
  using namespace types;
  const auto shape = [&](int64_t rows) { return c.width == 1 ? f32({rows}) : f32({rows, c.width}); };
  auto builder = scatter_rows(shape(c.rows), i32({c.updates}), shape(c.updates));
  builder.combine(CombinerKind::add).in_place().oob(OobPolicy::skip_element).normalize_negative(false);
  return builder.build();
}

Runtime& runtime() {
  static Runtime runtime(*make_executor(kPoolThreads));
  return runtime;
}

Expected<Kernel> kernel_of(const Op& op, const std::string& strategy, int threads) {
  KernelOptions options;
  options.schedule = parse_schedule_text(fmt::format("strategy={}", strategy)).value().knobs;
  options.threads = threads;
  return runtime().get(op, options);
}

void run(benchmark::State& state, const Case& c, int threads) {
  const Expected<Scatter> scatter = op_of(c);
  if (!scatter.ok()) return fail(state, scatter.status().message());
  const Op op(*scatter);
  const Expected<Kernel> alone = kernel_of(op, "sequential", 1), owner = kernel_of(op, "owner", threads),
                         radix = kernel_of(op, "radix", threads);
  for (const auto* kernel : {&alone, &owner, &radix})
    if (!kernel->ok()) return fail(state, kernel->status().message());
  Buffers buffers(c);
  std::vector<float> expected;
  for (const auto* kernel : {&alone, &owner, &radix}) {
    buffers.clear();
    if (const Status status = (*kernel)->run(buffers.views); !status.ok()) return fail(state, status.message());
    if (expected.empty()) expected = buffers.table;
    if (std::memcmp(expected.data(), buffers.table.data(), expected.size() * sizeof(float)) != 0)
      return fail(state, "a strategy's result is not one thread's");
  }
  const auto way = [&](const Kernel& kernel) {
    return [&](int64_t calls) {
      for (int64_t i = 0; i < calls; ++i)
        if (!kernel.run(buffers.views).ok()) any_failed() = true;
    };
  };
  Turn turn;
  turn.batch_nanoseconds = 2e6;
  turn.warm_nanoseconds = 1e6;
  turn.most_nanoseconds = 6e9;
  const Turns turns = time_in_turns(
      state, {{"radix", way(*radix), {}, {}}, {"owner", way(*owner), {}, {}}, {"sequential", way(*alone), {}, {}}}, 1, turn);
  const Medians medians = turns.medians();
  state.counters["radix_ns"] = medians[0] / static_cast<double>(c.updates);
  state.counters["owner_ns"] = medians[1] / static_cast<double>(c.updates);
  state.counters["sequential_ns"] = medians[2] / static_cast<double>(c.updates);
  state.counters["radix_over_owner"] = turns.ratio(0, 1);
  if (threads > machine().cores) state.SetLabel(fmt::format("oversubscribed: {} threads on {} cores", threads, machine().cores));
}

void add_cases() {
  for (const Case& c : {Case{64 << 10, 1, 1 << 20, Skew::uniform}, Case{16 << 20, 1, 4 << 20, Skew::uniform},
                        Case{16 << 20, 1, 4 << 20, Skew::skewed}, Case{16 << 20, 1, 4 << 20, Skew::hot},
                        Case{1 << 20, 16, 1 << 20, Skew::uniform}, Case{1 << 20, 16, 1 << 20, Skew::skewed}}) {
    for (const int threads : {2, 4, 8}) {
      const std::string name = fmt::format("{}/table {}/updates {}/{}/{} threads", c.width == 1 ? "elements" : "rows of 64 bytes",
                                           c.rows, c.updates, kSkews[static_cast<size_t>(c.skew)], threads);
      benchmark::RegisterBenchmark(name.c_str(), [c, threads](benchmark::State& state) { run(state, c, threads); })
          ->UseManualTime()
          ->Iterations(11);
    }
  }
}

}  // namespace
}  // namespace strew::bench

int main(int argc, char** argv) {
  strew::bench::add_cases();
  return strew::bench::run_all(argc, argv);
}
