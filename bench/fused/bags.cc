// Pooled look-ups (embedding bags): 1,024 bags of 32 rows of a table of 50,000. Sums of bf16 and f16 accumulate wide; `two` makes a tensor of rows first.
#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <random>
#include <vector>

#include "bench/fused/hand.h"
#include "bench/fused/work.h"
#include "bench/memory.h"
#include "strew/forms.h"
#include "strew/runtime.h"

namespace strew::bench {
namespace {

constexpr int64_t kBags = 1024, kLength = 32, kRows = 50'000;

template <class T>
constexpr DType kDType = DType::f32;
template <>
constexpr DType kDType<uint16_t> = DType::bf16;

template <>
constexpr DType kDType<hand::Half> = DType::f16;

void set(float& to, uint32_t thousandths) { to = static_cast<float>(thousandths) * 1e-3F; }
void set(uint16_t& to, uint32_t thousandths) {
  to = static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(thousandths) * 1e-3F) >> 16);
}
/// So many 1024ths, which f16 has.
void set(hand::Half& to, uint32_t parts) {
  const auto width = static_cast<uint32_t>(std::bit_width(parts));
  to.bits = parts == 0 ? uint16_t{0} : static_cast<uint16_t>((width + 4) << 10 | (parts << (11 - width) & 0x3ff));
}

template <class T>
class Pooled : public Work {
 public:
  explicit Pooled(int64_t width)
      : width_(width),
        rows_(static_cast<size_t>(kBags * kLength)),
        bags_(rows_.size()),
        table_(static_cast<size_t>(kRows * width)),
        result_(static_cast<size_t>(kBags * width)) {
    std::mt19937 random(1);
    for (int32_t& row : rows_) row = static_cast<int32_t>(random() % kRows);
    for (size_t n = 0; n < bags_.size(); ++n) bags_[n] = static_cast<int32_t>(static_cast<int64_t>(n) / kLength);
    for (T& each : table_) set(each, random() % 1000);
  }

  Status make(int threads) override {
    between_.resize(static_cast<size_t>(kBags * kLength * width_));
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

  std::vector<Way> strew_ways() override {
    return one_and_two([this](size_t number) {
      const Status status = kernels_[number].run(views_[number]);
      if (!status.ok()) fmt::print(stderr, "{}\n", status.message());
    });
  }
  std::vector<Way> hand_ways() override {
    if (kDType<T> == DType::f16 && !hand::kHasHalf) return {};
    return {{"hand", [this](int64_t n) {
               const hand::Bags bags{kBags, kLength, rows_.data()};
               for (int64_t i = 0; i < n; ++i) hand::bags(result_.data(), table_.data(), bags, width_);
             }}};
  }
  std::vector<Array> inputs() const override { return {array("rows", rows_), array("table", table_)}; }
  std::span<const std::byte> result() const override { return std::as_bytes(std::span(result_)); }
  std::string schedule() const override { return print(kernels_[0].schedule()) + " " + std::string(kernels_[0].backend()); }

 private:
  int64_t width_;
  const std::vector<int64_t> of_table_{kRows, width_}, of_result_{kBags, width_}, of_between_{kBags * kLength, width_},
      of_indices_{kBags * kLength};
  Tensor<int32_t> rows_, bags_;
  Tensor<T> table_, result_, between_;
  std::vector<Kernel> kernels_;
  std::vector<std::vector<TensorView>> views_;
};

template <class T>
Case case_of(int64_t width) {
  const std::string dtype(name(kDType<T>));
  return {fmt::format("bags_{}_{}", width, dtype),
          {{"kind", "bags"}, {"bags", kBags}, {"length", kLength}, {"nodes", kRows}, {"width", width}, {"dtype", dtype}},
          21,
          [width] { return std::make_unique<Pooled<T>>(width); }};
}

}  // namespace

std::vector<Case> bag_cases() {
  std::vector<Case> out;
  for (const int64_t width : {32, 64, 128, 256, 512})
    for (Case (*const make)(int64_t) : {case_of<float>, case_of<uint16_t>, case_of<hand::Half>}) out.push_back(make(width));
  return out;
}

}  // namespace strew::bench
