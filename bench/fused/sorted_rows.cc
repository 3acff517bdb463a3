// See sorted_rows.h. 4,000 updates are added to 1,000 rows in place, with one thread: the row, the updates and the indices stay in the caches. Both ways
// begin with zeros, and their bits are compared before they are timed.
#include "bench/fused/sorted_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <vector>

#include "bench/measure.h"
#include "bench/memory.h"
#include "strew/forms.h"
#include "strew/runtime.h"

namespace strew::bench {
namespace {

constexpr int64_t kRows = 1000, kUpdates = 4000;

void run(benchmark::State& state, int64_t width) {
  std::mt19937 random(1);
  Tensor<int32_t> rows(kUpdates);
  for (int32_t& row : rows) row = static_cast<int32_t>(random() % kRows);
  std::ranges::sort(rows);
  Tensor<float> updates(static_cast<size_t>(kUpdates * width));
  for (float& update : updates) update = static_cast<float>(random() % 1000) * 1e-3F;
  const std::vector<int64_t> of_table{kRows, width}, of_updates{kUpdates, width}, of_rows{kUpdates};
  const TensorView at(rows.data(), of_rows), values(updates.data(), of_updates);
  std::vector<Tensor<float>> tables(2, Tensor<float>(static_cast<size_t>(kRows * width), 0.0F));
  std::vector<Way> ways;
  KernelOptions options;
  options.threads = 1;
  for (const bool sorted : {true, false}) {
    const Expected<Scatter> op = scatter_rows({DType::f32, of_table, {}}, {DType::i32, of_rows, {}}, {DType::f32, of_updates, {}})
                                     .combine(CombinerKind::add)
                                     .in_place()
                                     .indices_are_sorted(sorted)
                                     .oob(OobPolicy::skip_window)
                                     .build();
    if (!op.ok()) return fail(state, op.status().message());
    const Expected<Kernel> kernel = Runtime::process().get(Op(*op), options);
    if (!kernel.ok()) return fail(state, kernel.status().message());
    Tensor<float>& table = tables[sorted ? 0 : 1];
    const std::vector<TensorView> views{{table.data(), of_table}, at, values};
    if (const Status status = kernel->run(views); !status.ok()) return fail(state, status.message());
    ways.push_back({sorted ? "registers" : "plain", [kernel = *kernel, views](int64_t n) {
                      for (int64_t i = 0; i < n; ++i)
                        if (const Status status = kernel.run(views); !status.ok()) fmt::print(stderr, "{}\n", status.message());
                    }});
  }
  if (tables[0] != tables[1]) return fail(state, "registers give other bits than plain");
  const Medians ns = take_turns(state, ways, 1);
  state.counters["x_gain"] = ns[1] / ns[0];
}

}  // namespace

void register_sorted_rows() {
  for (const int64_t width : {8, 16, 64, 256})
    benchmark::RegisterBenchmark(fmt::format("sorted_rows_{}_f32", width).c_str(), run, width)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond)
        ->Iterations(51);
}

}  // namespace strew::bench
