// Messages along edges, and their mean. See fused_bench.cc.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "bench/fused/hand.h"
#include "bench/fused/work.h"
#include "bench/memory.h"
#include "strew/forms.h"
#include "strew/runtime.h"

namespace strew::bench {
namespace {

using hand::kWidth;
using Dims = std::vector<int64_t>;

struct Shape {
  const char* name;
  int64_t nodes, edges;
  bool sorted;
};
constexpr Shape kShapes[] = {
    {"10k_300k", 10'000, 300'000, false},
    {"170k_1200k", 170'000, 1'200'000, false},
    {"2M_8M", 2'000'000, 8'000'000, false},
    {"10k_300k_sorted", 10'000, 300'000, true},
    {"170k_1200k_sorted", 170'000, 1'200'000, true},
    {"2M_8M_sorted", 2'000'000, 8'000'000, true},
};

class Graph : public Work {
 public:
  explicit Graph(const Shape& which)
      : sorted_(which.sorted),
        rows_{which.nodes, kWidth},
        messages_{which.edges, kWidth},
        edges_{which.edges},
        to_(static_cast<size_t>(which.edges)),
        from_(to_.size()),
        weight_(to_.size()),
        table_(static_cast<size_t>(which.nodes * kWidth)),
        result_(table_.size()) {
    std::mt19937 random(1);
    const auto node = [&] { return static_cast<int32_t>(random() % static_cast<uint64_t>(which.nodes)); };
    for (int32_t& each : to_) each = node();
    for (int32_t& each : from_) each = node();
    for (float& each : weight_) each = 1.0F / static_cast<float>(1 + random() % 7);
    for (float& each : table_) each = static_cast<float>(random() % 1000) * 1e-3F;
    if (which.sorted) std::ranges::sort(to_);
  }

  Status make(int threads) override {
    between_.resize(to_.size() * kWidth);
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
                                  .indices_are_sorted(sorted_)
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
                                     .indices_are_sorted(sorted_)
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

  std::vector<Way> strew_ways() override {
    return one_and_two([this](size_t number) {
      const Status status = calls_[number].kernel.run(calls_[number].views);
      if (!status.ok()) fmt::print(stderr, "{}\n", status.message());
    });
  }
  std::vector<Way> hand_ways() override {
    between_.resize(to_.size() * kWidth);
    return {{"hand",
             [this](int64_t n) {
               for (int64_t i = 0; i < n; ++i) add_by_hand();
             }},
            {"hand_two", [this](int64_t n) {
               for (int64_t i = 0; i < n; ++i) hand::two_passes(cleared(), table_.data(), edges(), between_.data());
             }}};
  }
  std::vector<Array> inputs() const override {
    return {array("to", to_), array("from", from_), array("weight", weight_), array("table", table_)};
  }
  std::span<const std::byte> result() const override { return std::as_bytes(std::span(result_)); }
  std::string schedule() const override {
    return print(calls_[0].kernel.schedule()) + " " + std::string(calls_[0].kernel.backend());
  }

 protected:
  void add_by_hand() { (sorted_ ? hand::one_pass_sorted : hand::one_pass)(cleared(), table_.data(), edges()); }

  struct Call {
    Kernel kernel;
    std::vector<TensorView> views;
  };
  hand::Edges edges() const { return {edges_[0], to_.data(), from_.data(), weight_.data()}; }
  float* cleared() {
    std::memset(result_.data(), 0, result_.size() * sizeof(float));
    return result_.data();
  }

  bool sorted_;
  Dims rows_, messages_, edges_;
  Tensor<int32_t> to_, from_;
  Tensor<float> weight_, table_, result_, between_;  ///< between: only where a way needs it
  std::vector<Call> calls_;
};

/// The mean of the rows that edges bring to a node, as GraphSAGE takes it; 0 for a node without edges. Without weights.
class Mean : public Graph {
 public:
  explicit Mean(const Shape& which) : Graph(which), counts_(static_cast<size_t>(which.nodes)) {
    std::ranges::fill(weight_, 1.0F);
    for (const int32_t node : to_) counts_[static_cast<size_t>(node)] += 1.0F;
  }
  Status make(int /*threads*/) override { return {}; }
  std::vector<Way> strew_ways() override { return {}; }
  std::vector<Way> hand_ways() override {
    return {{"hand", [this](int64_t n) {
               for (int64_t i = 0; i < n; ++i) {
                 add_by_hand();
                 for (size_t node = 0; node < counts_.size(); ++node)
                   for (size_t k = 0; k < kWidth; ++k) result_[node * kWidth + k] /= std::max(1.0F, counts_[node]);
               }
             }}};
  }

 private:
  std::vector<float> counts_;
};

}  // namespace

std::vector<Case> edge_cases() {
  std::vector<Case> out;
  for (const Shape& shape : kShapes) {
    const nlohmann::json facts = {{"nodes", shape.nodes}, {"edges", shape.edges}, {"width", kWidth}, {"sorted", shape.sorted}};
    const auto add = [&](const std::string& kind, int rounds, std::function<std::unique_ptr<Work>()> open) {
      Case& made = out.emplace_back(Case{kind + "_" + shape.name, facts, rounds, std::move(open)});
      made.facts["kind"] = kind;
    };
    add("edges", 7, [shape] { return std::make_unique<Graph>(shape); });
    add("mean", 0, [shape] { return std::make_unique<Mean>(shape); });
  }
  return out;
}

}  // namespace strew::bench
