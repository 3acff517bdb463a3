// See bags.h. Sums of bf16 accumulate wide; `two` makes a tensor of rows first. The bits of all are compared before they are timed.
#include "bench/fused/bags.h"

#include <fmt/format.h>

#include <cstring>
#include <random>
#include <vector>

#include "bench/fused/hand.h"
#include "bench/measure.h"
#include "strew/forms.h"
#include "strew/runtime.h"

namespace strew::bench {
namespace {

constexpr int64_t kBags = 1024, kLength = 32, kRows = 50'000;

template <class T>
constexpr DType kDType = DType::f32;
template <>
constexpr DType kDType<uint16_t> = DType::bf16;

float number(std::mt19937& random) { return static_cast<float>(random() % 1000) * 1e-3F; }
void set(float& to, float value) { to = value; }
void set(uint16_t& to, float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  to = static_cast<uint16_t>(bits >> 16);
}

template <class T>
class Pooled {
 public:
  explicit Pooled(int64_t width)
      : width_(width),
        rows_(static_cast<size_t>(kBags * kLength)),
        bags_(rows_.size()),
        table_(static_cast<size_t>(kRows * width)),
        result_(static_cast<size_t>(kBags * width)),
        between_(static_cast<size_t>(kBags * kLength * width)) {
    std::mt19937 random(1);
    for (int32_t& row : rows_) row = static_cast<int32_t>(random() % kRows);
    for (size_t n = 0; n < bags_.size(); ++n) bags_[n] = static_cast<int32_t>(static_cast<int64_t>(n) / kLength);
    for (T& each : table_) set(each, number(random));
  }

  Status make(int threads) {
    const TensorType table{kDType<T>, of_table_, {}}, result{kDType<T>, of_result_, {}}, rows{kDType<T>, of_between_, {}},
        indices{DType::i32, of_indices_, {}};
    const Accumulate accumulate = kDType<T> == DType::f32 ? Accumulate::native : Accumulate::wide;
    Scalar zero;
    zero.dtype = kDType<T>;
    const auto sum = [&] {
      return scatter_rows(result, indices, rows)
          .combine(CombinerKind::add)
          .accumulate(accumulate)
          .indices_are_sorted()
          .fill({zero})
          .oob(OobPolicy::skip_window);
    };
    STREW_ASSIGN(Scatter one, sum().look_up(Role::updates, 0, gather_rows(table, indices).oob(OobPolicy::error)).build());
    STREW_ASSIGN(Gather first, gather_rows(table, indices).oob(OobPolicy::error).build());
    STREW_ASSIGN(Scatter second, sum().build());
    KernelOptions options;
    options.threads = threads;
    const auto get = [&](Op op, std::vector<TensorView> views) -> Status {
      STREW_ASSIGN(Kernel kernel, Runtime::process().get(std::move(op), options));
      kernels_.push_back(std::move(kernel));
      views_.push_back(std::move(views));
      return {};
    };
    const TensorView sums(result_.data(), kDType<T>, of_result_), values(table_.data(), kDType<T>, of_table_),
        made(between_.data(), kDType<T>, of_between_), to(bags_.data(), of_indices_), from(rows_.data(), of_indices_);
    STREW_TRY(get(Op(std::move(one)), {sums, to, values, from}));
    STREW_TRY(get(Op(std::move(first)), {made, values, from}));
    return get(Op(std::move(second)), {sums, to, made});
  }

  std::vector<Way> ways() {
    const auto call = [this](size_t number) {
      const Status status = kernels_[number].run(views_[number]);
      if (!status.ok()) fmt::print(stderr, "{}\n", status.message());
    };
    const hand::Bags bags{kBags, kLength, rows_.data()};
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
            {"hand", [=, this](int64_t n) {
               for (int64_t i = 0; i < n; ++i) hand::bags(result_.data(), table_.data(), bags, width_);
             }}};
  }
  const std::vector<T>& result() const { return result_; }
  std::string schedule() const { return print(kernels_[0].schedule()) + " " + std::string(kernels_[0].backend()); }

 private:
  int64_t width_;
  const std::vector<int64_t> of_table_{kRows, width_}, of_result_{kBags, width_}, of_between_{kBags * kLength, width_},
      of_indices_{kBags * kLength};
  std::vector<int32_t> rows_, bags_;
  std::vector<T> table_, result_, between_;
  std::vector<Kernel> kernels_;
  std::vector<std::vector<TensorView>> views_;
};

template <class T>
void run(benchmark::State& state, int64_t width, int threads) {
  Pooled<T> pooled(width);
  if (const Status status = pooled.make(threads); !status.ok()) return fail(state, status.message());
  const std::vector<Way> ways = pooled.ways();
  std::vector<T> first;
  for (const Way& way : ways) {
    way.run(1);
    if (first.empty()) first = pooled.result();
    if (std::memcmp(first.data(), pooled.result().data(), first.size() * sizeof(T)) != 0)
      return fail(state, fmt::format("{} gives other bits than {}", way.name, ways[0].name));
  }
  const Medians ns = take_turns(state, ways, 1);
  state.counters["x_limit"] = ns[0] / ns[2];
  state.counters["x_two"] = ns[1] / ns[0];
  state.SetLabel(pooled.schedule());
}

}  // namespace

void register_bags() {
  for (const int64_t width : {32, 64, 128, 256, 512})
    for (const int threads : {1, 2}) {
      const auto add = [&](const char* dtype, auto* run_it) {
        benchmark::RegisterBenchmark(fmt::format("bags_{}_{}/T:{}", width, dtype, threads).c_str(), run_it, width, threads)
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond)
            ->Iterations(21);
      };
      add("f32", run<float>);
      add("bf16", run<uint16_t>);
    }
}

}  // namespace strew::bench
