// One pass instead of two: `./dev bench fused`. Messages along the edges of a graph, result[to[e]] += table[from[e]] * weight[e] for rows of 64 f32, as
// one op with a look-up (`one`), as a gather and a scatter of strew (`two`), and as hand-written loops in one pass (`hand`) and in two. x_limit is the
// time of `one` over that of `hand`, x_two that of `two` over that of `one`. T: threads; the hand-written loops have one. The results of all are
// compared before they are timed.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "bench/fused/bags.h"
#include "bench/fused/dots.h"
#include "bench/fused/hand.h"
#include "bench/fused/sorted_rows.h"
#include "bench/measure.h"
#include "strew/forms.h"
#include "strew/runtime.h"

namespace strew::bench {
namespace {

using hand::kWidth;
using Dims = std::vector<int64_t>;

struct Case {
  const char* name;
  int64_t nodes, edges;
  bool sorted;
};
constexpr Case kCases[] = {
    {"10k_300k", 10'000, 300'000, false},
    {"170k_1200k", 170'000, 1'200'000, false},
    {"2M_8M", 2'000'000, 8'000'000, false},
    {"10k_300k_sorted", 10'000, 300'000, true},
    {"170k_1200k_sorted", 170'000, 1'200'000, true},
    {"2M_8M_sorted", 2'000'000, 8'000'000, true},
};

class Graph {
 public:
  explicit Graph(const Case& which)
      : rows_{which.nodes, kWidth},
        messages_{which.edges, kWidth},
        edges_{which.edges},
        to_(static_cast<size_t>(which.edges)),
        from_(to_.size()),
        weight_(to_.size()),
        table_(static_cast<size_t>(which.nodes * kWidth)),
        result_(table_.size()),
        between_(to_.size() * kWidth) {
    std::mt19937 random(1);
    const auto node = [&] { return static_cast<int32_t>(random() % static_cast<uint64_t>(which.nodes)); };
    for (int32_t& each : to_) each = node();
    for (int32_t& each : from_) each = node();
    for (float& each : weight_) each = 1.0F / static_cast<float>(1 + random() % 7);
    for (float& each : table_) each = static_cast<float>(random() % 1000) * 1e-3F;
    if (which.sorted) std::ranges::sort(to_);
  }

  Status make(bool sorted, int threads) {
    const TensorType table{DType::f32, rows_, {}}, messages{DType::f32, messages_, {}}, indices{DType::i32, edges_, {}},
        weight{DType::f32, edges_, {}};
    ExprBuilder scaled, weighted;
    const int32_t product = scaled.apply(ExprOp::mul, {scaled.current(0, DType::f32), scaled.extra(0, DType::f32)});
    const int32_t current = weighted.current(0, DType::f32);
    const int32_t message = weighted.apply(ExprOp::mul, {weighted.update(0, DType::f32), weighted.extra(0, DType::f32)});
    STREW_ASSIGN(Scatter one, scatter_rows(table, indices, messages)
                                  .look_up(Role::updates, 0, gather_rows(table, indices).oob(OobPolicy::clamp))
                                  .extra(ExtraKind::per_position, weight)
                                  .combine(weighted.returns({weighted.apply(ExprOp::add, {current, message})}))
                                  .indices_are_sorted(sorted)
                                  .fill({Scalar::of(0.0F)})
                                  .oob(OobPolicy::skip_window)
                                  .build());
    STREW_ASSIGN(Gather first, gather_rows(table, indices)
                                   .extra(ExtraKind::per_position, weight)
                                   .expr(scaled.returns({product}))
                                   .oob(OobPolicy::clamp)
                                   .build());
    STREW_ASSIGN(Scatter second, scatter_rows(table, indices, messages)
                                     .combine(CombinerKind::add)
                                     .indices_are_sorted(sorted)
                                     .fill({Scalar::of(0.0F)})
                                     .oob(OobPolicy::skip_window)
                                     .build());
    KernelOptions options;
    options.threads = threads;
    const auto get = [&](Op op, std::vector<TensorView> views) -> Status {
      STREW_ASSIGN(Kernel kernel, Runtime::process().get(std::move(op), options));
      calls_.push_back({std::move(kernel), std::move(views)});
      return {};
    };
    const TensorView result(result_.data(), rows_), rows(table_.data(), rows_), made(between_.data(), messages_),
        to(to_.data(), edges_), from(from_.data(), edges_), factors(weight_.data(), edges_);
    STREW_TRY(get(Op(std::move(one)), {result, to, rows, factors, from}));
    STREW_TRY(get(Op(std::move(first)), {made, rows, from, factors}));
    return get(Op(std::move(second)), {result, to, made});
  }

  std::vector<Way> ways(bool sorted) {
    const hand::Edges edges{edges_[0], to_.data(), from_.data(), weight_.data()};
    const auto cleared = [this] {
      std::memset(result_.data(), 0, result_.size() * sizeof(float));
      return result_.data();
    };
    const auto call = [this](size_t number) {
      const Status status = calls_[number].kernel.run(calls_[number].views);
      if (!status.ok()) fmt::print(stderr, "{}\n", status.message());
    };
    return {{"one",
             [=](int64_t n) {
               for (int64_t i = 0; i < n; ++i) call(0);
             }},
            {"two",
             [=](int64_t n) {
               for (int64_t i = 0; i < n; ++i) {
                 call(1);
                 call(2);
               }
             }},
            {"hand",
             [=, this](int64_t n) {
               for (int64_t i = 0; i < n; ++i) (sorted ? hand::one_pass_sorted : hand::one_pass)(cleared(), table_.data(), edges);
             }},
            {"hand_two", [=, this](int64_t n) {
               for (int64_t i = 0; i < n; ++i) hand::two_passes(cleared(), table_.data(), edges, between_.data());
             }}};
  }
  const std::vector<float>& result() const { return result_; }
  std::string schedule() const { return print(calls_[0].kernel.schedule()) + " " + std::string(calls_[0].kernel.backend()); }

 private:
  struct Call {
    Kernel kernel;
    std::vector<TensorView> views;
  };
  Dims rows_, messages_, edges_;
  std::vector<int32_t> to_, from_;
  std::vector<float> weight_, table_, result_, between_;
  std::vector<Call> calls_;
};

void run(benchmark::State& state, const Case& which, int threads) {
  Graph graph(which);
  if (const Status status = graph.make(which.sorted, threads); !status.ok()) return fail(state, status.message());
  const std::vector<Way> ways = graph.ways(which.sorted);
  std::vector<float> first;
  for (const Way& way : ways) {
    way.run(1);
    if (first.empty()) first = graph.result();
    if (std::memcmp(first.data(), graph.result().data(), first.size() * sizeof(float)) != 0)
      return fail(state, fmt::format("{} gives other bits than {}", way.name, ways[0].name));
  }
  const Medians ns = take_turns(state, ways, 1);
  state.counters["x_limit"] = ns[0] / ns[2];
  state.counters["x_two"] = ns[1] / ns[0];
  state.SetLabel(graph.schedule());
}

}  // namespace
}  // namespace strew::bench

int main(int argc, char** argv) {
  using namespace strew::bench;
  for (const Case& which : kCases)
    for (const int threads : {1, 2})
      benchmark::RegisterBenchmark(fmt::format("edges_{}/T:{}", which.name, threads).c_str(), run, which, threads)
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond)
          ->Iterations(7);
  register_bags();
  register_dots();
  register_sorted_rows();
  return run_all(argc, argv);
}
