// The gradient of the weights of edges: w[e] = dot(x[to[e]], y[from[e]]), as one op with two look-ups and a reduction over the row (`one`), as a gather and
// an op that reduces the product of what it made and a row that is looked up (`two`), and as a hand-written loop (`hand`).
#include <fmt/format.h>

#include <random>
#include <vector>

#include "bench/fused/hand.h"
#include "bench/fused/work.h"
#include "bench/memory.h"
#include "strew/forms.h"
#include "strew/runtime.h"

namespace strew::bench {
namespace {

using hand::kWidth;

struct Shape {
  const char* name;
  int64_t nodes, edges;
};
constexpr Shape kShapes[] = {{"10k_300k", 10'000, 300'000}, {"170k_1200k", 170'000, 1'200'000}, {"2M_8M", 2'000'000, 8'000'000}};

class Dots : public Work {
 public:
  explicit Dots(const Shape& which)
      : rows_{which.nodes, kWidth},
        made_{which.edges, kWidth},
        edges_{which.edges},
        to_(static_cast<size_t>(which.edges)),
        from_(to_.size()),
        left_(static_cast<size_t>(which.nodes * kWidth)),
        right_(left_.size()),
        result_(to_.size()) {
    std::mt19937 random(1);
    for (Tensor<int32_t>* const ids : {&to_, &from_})
      for (int32_t& each : *ids) each = static_cast<int32_t>(random() % static_cast<uint64_t>(which.nodes));
    for (Tensor<float>* const table : {&left_, &right_})
      for (float& each : *table) each = static_cast<float>(random() % 1000) * 1e-3F;
  }

  Status make(int threads) override {
    between_.resize(to_.size() * kWidth);
    const TensorType table{DType::f32, rows_, {}}, ids{DType::i32, edges_, {}}, made{DType::f32, made_, {}};
    STREW_ASSIGN(Scatter one, sddmm(table, ids, table, ids).build());
    STREW_ASSIGN(Gather first, gather_rows(table, ids).oob(OobPolicy::error).build());
    Scatter second = one;  // the left rows are a tensor
    second.lookups.erase(second.lookups.begin());
    KernelOptions options;
    options.threads = threads;
    const auto get = [&](Op op, std::vector<TensorView> views) -> Status {
      STREW_ASSIGN(Kernel kernel, Runtime::process().get(std::move(op), options));
      calls_.push_back({std::move(kernel), std::move(views)});
      return {};
    };
    const TensorView none(static_cast<int32_t*>(nullptr), none_dims_ = {edges_[0], 0}), left(left_.data(), rows_),
        right(right_.data(), rows_), rows(between_.data(), made_), to(to_.data(), edges_), from(from_.data(), edges_);
    const TensorView result(result_.data(), made_, strides_);
    STREW_TRY(get(Op(std::move(one)), {result, none, left, right, to, from}));
    STREW_TRY(get(Op(std::move(first)), {rows, left, to}));
    return get(Op(std::move(second)), {result, none, rows, right, from});
  }

  std::vector<Way> strew_ways() override {
    return one_and_two([this](size_t number) {
      const Status status = calls_[number].kernel.run(calls_[number].views);
      if (!status.ok()) fmt::print(stderr, "{}\n", status.message());
    });
  }
  std::vector<Way> hand_ways() override {
    const hand::Edges edges{edges_[0], to_.data(), from_.data(), nullptr};
    return {{"hand", [=, this](int64_t n) {
               for (int64_t i = 0; i < n; ++i) hand::dots(result_.data(), left_.data(), right_.data(), edges);
             }}};
  }
  std::vector<Array> inputs() const override {
    return {array("to", to_), array("from", from_), array("table", left_), array("right", right_)};
  }
  std::span<const std::byte> result() const override { return std::as_bytes(std::span(result_)); }
  std::string schedule() const override {
    return print(calls_[0].kernel.schedule()) + " " + std::string(calls_[0].kernel.backend());
  }

 private:
  struct Call {
    Kernel kernel;
    std::vector<TensorView> views;
  };
  std::vector<int64_t> rows_, made_, edges_, none_dims_, strides_{1, 0};
  Tensor<int32_t> to_, from_;
  Tensor<float> left_, right_, between_, result_;
  std::vector<Call> calls_;
};

}  // namespace

std::vector<Case> dot_cases() {
  std::vector<Case> out;
  for (const Shape& shape : kShapes)
    out.push_back({fmt::format("dots_{}", shape.name),
                   {{"kind", "dots"}, {"nodes", shape.nodes}, {"edges", shape.edges}, {"width", kWidth}},
                   7,
                   [shape] { return std::make_unique<Dots>(shape); }});
  return out;
}

}  // namespace strew::bench
