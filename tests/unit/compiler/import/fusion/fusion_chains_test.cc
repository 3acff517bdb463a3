// Random chains: one or two gathers, elementwise operations, and a scatter or a reduction, in StableHLO, with other readers here and there. Each runs with
// and without fusion, under random policies, at indices that are in bounds, out of bounds and repeated: the same bits. A failure prints the seed and the
// text; STREW_SEED=N runs that chain alone.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "tests/support/rng.h"
#include "tests/unit/compiler/import/fusion/fusion_testing.h"

namespace strew {
namespace {

using Dims = std::vector<int64_t>;

std::string list(const Dims& dims) { return "[" + fmt::format("{}", fmt::join(dims, ", ")) + "]"; }
Dims joined(Dims a, const Dims& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
Dims numbers(int64_t first, size_t count) {
  Dims out(count);
  std::iota(out.begin(), out.end(), first);
  return out;
}

class Chain {
 public:
  explicit Chain(uint64_t seed) : rng_(seed) {
    element_ = rng_.pick(std::vector<std::string>{"f32", "f32", "f64", "f16", "bf16", "i32"});
    for (int64_t p = rng_.between(1, 3); p > 0; --p) positions_.push_back(rng_.between(1, 4));
    for (int64_t w = rng_.below(3); w > 0; --w) window_.push_back(rng_.between(1, 5));
    std::string last = gather(), gathered = last;
    for (int64_t n = rng_.below(4); n > 0; --n) last = elementwise(last);
    if (rng_.chance(15)) elementwise(gathered);  // nobody reads it
    returned_.emplace_back(rng_.chance(55) ? scatter(last) : reduction(last));
    if (rng_.chance(15)) returned_.emplace_back(gathered, type(frame()));
    if (rng_.chance(10) && last != gathered) returned_.emplace_back(last, type(frame()));
  }

  std::string text() const {
    std::vector<std::string> names, types;
    for (const auto& [name, type] : returned_) names.push_back(name), types.push_back(type);
    return fmt::format("func.func @main({}) -> ({}) {{\n{}  return {} : {}\n}}\n", fmt::join(inputs_, ", "),
                       fmt::join(types, ", "), body_, fmt::join(names, ", "), fmt::join(types, ", "));
  }
  int64_t rows() const { return kRows; }

 private:
  static constexpr int64_t kRows = 6;

  Dims frame() const { return joined(positions_, window_); }
  std::string type(const Dims& dims, const std::string& element = "") const {
    return fmt::format("tensor<{}{}{}>", fmt::join(dims, "x"), dims.empty() ? "" : "x", element.empty() ? element_ : element);
  }
  std::string name() { return fmt::format("%v{}", count_++); }
  std::string input(const std::string& of) {
    const std::string made = name();
    inputs_.push_back(made + ": " + of);
    return made;
  }
  std::string line(const std::string& operation) {
    const std::string made = name();
    body_ += "  " + made + " = " + operation + "\n";
    return made;
  }

  std::string gather() {
    const Dims table = joined({kRows}, window_), indices = joined(positions_, {1}), sizes = joined({1}, window_);
    const std::string index_type = type(indices, rng_.chance(50) ? "i32" : "i64"), x = input(type(table)), i = input(index_type);
    return line(fmt::format(
        "\"stablehlo.gather\"({}, {}) <{{dimension_numbers = #stablehlo.gather<offset_dims = {}, collapsed_slice_dims = [0], "
        "start_index_map = [0], index_vector_dim = {}>, slice_sizes = array<i64: {}>}}> : ({}, {}) -> {}",
        x, i, list(numbers(static_cast<int64_t>(positions_.size()), window_.size())), positions_.size(), fmt::join(sizes, ", "),
        type(table), index_type, type(frame())));
  }

  /// A tensor of the frame that is made of fewer numbers, or of another gather.
  std::string operand() {
    const auto broadcast = [&](const Dims& dims, const Dims& of) {
      const std::string from = input(type(of));
      return line(
          fmt::format("stablehlo.broadcast_in_dim {}, dims = {} : ({}) -> {}", from, list(dims), type(of), type(frame())));
    };
    const auto rank = static_cast<int64_t>(positions_.size());
    switch (rng_.below(5)) {
      case 0:
        return broadcast(numbers(0, positions_.size()), positions_);
      case 1:
        return broadcast(numbers(rank, window_.size()), window_);
      case 2:
        return broadcast({}, {});
      case 3:
        return input(type(frame()));
      default:
        return gather();
    }
  }
  std::string elementwise(const std::string& value) {
    const std::string other = operand(),
                      operation = rng_.pick(std::vector<std::string>{"multiply", "add", "subtract", "maximum", "minimum"});
    const bool is_first = rng_.chance(70);
    return line(
        fmt::format("stablehlo.{} {}, {} : {}", operation, is_first ? value : other, is_first ? other : value, type(frame())));
  }

  std::pair<std::string, std::string> scatter(const std::string& updates) {
    const Dims table = joined({kRows}, window_);
    const std::string index_type = type(joined(positions_, {1}), "i32"), i = input(index_type);
    const std::string zero = element_ == "i32" ? "0" : "0.0";
    const std::string into =
        rng_.chance(50) ? input(type(table)) : line(fmt::format("stablehlo.constant dense<{}> : {}", zero, type(table)));
    const std::string operation = rng_.pick(std::vector<std::string>{"add", "add", "maximum", "multiply", ""});
    const std::string element = type({});
    const std::string combine =
        operation.empty()
            ? fmt::format("    stablehlo.return %b : {}\n", element)
            : fmt::format("    %s = stablehlo.{} %a, %b : {}\n    stablehlo.return %s : {}\n", operation, element, element);
    return {
        line(fmt::format(
            "\"stablehlo.scatter\"({}, {}, {}) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = {}, "
            "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = {}>}}> ({{\n  ^bb0(%a: {}, %b: "
            "{}):\n{}  }}) : ({}, {}, {}) -> {}",
            into, i, updates, list(numbers(static_cast<int64_t>(positions_.size()), window_.size())), positions_.size(), element,
            element, combine, type(table), index_type, type(frame()), type(table))),
        type(table)};
  }

  std::pair<std::string, std::string> reduction(const std::string& value) {
    Dims reduced, kept;
    const Dims all = frame();
    for (size_t d = 0; d < all.size(); ++d)
      (rng_.chance(d < positions_.size() ? 60 : 8) ? reduced : kept).push_back(static_cast<int64_t>(d));
    if (reduced.empty()) reduced = {0}, kept.erase(kept.begin());
    for (int64_t& d : kept) d = all[static_cast<size_t>(d)];
    const std::string zero = line(fmt::format("stablehlo.constant dense<{}> : {}", element_ == "i32" ? "3" : "-1.5", type({})));
    const std::string operation = rng_.pick(std::vector<std::string>{"add", "add", "maximum", "multiply"});
    return {line(fmt::format("stablehlo.reduce({} init: {}) applies stablehlo.{} across dimensions = {} : ({}, {}) -> {}", value,
                             zero, operation, list(reduced), type(all), type({}), type(kept))),
            type(kept)};
  }

  test::Rng rng_;
  std::string element_;
  Dims positions_, window_;
  int count_ = 0;
  std::vector<std::string> inputs_;
  std::string body_;
  std::vector<std::pair<std::string, std::string>> returned_;
};

ImportOptions options_of(test::Rng& rng) {
  ImportOptions options;
  using P = OobPolicy;
  if (rng.chance(60)) options.gather_oob = rng.pick(std::vector{P::clamp, P::wrap, P::error, P::fill_element, P::fill_window});
  if (rng.chance(60)) options.scatter_oob = rng.pick(std::vector{P::skip_element, P::skip_window, P::clamp, P::wrap, P::error});
  return options;
}

/// Indices near [0, rows); in bounds if `is_valid`.
std::vector<Tensor> inputs_of(const Program& program, int64_t rows, bool is_valid, test::Rng& rng) {
  std::vector<Tensor> inputs = test::random_inputs(program, rng);
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor& input = inputs[i];
    const bool is_indices = is_integer(input.dtype) && !input.dims.empty() && input.dims.back() == 1;
    for (int64_t e = 0; is_indices && e < input.elements(); ++e) {
      const int64_t index = is_valid ? rng.below(rows) : rng.between(-2, rows + 1);
      store_element(input.dtype, input.data.data(), e, {input.dtype, {encode_i64(input.dtype, index), 0}});
    }
  }
  return inputs;
}

/// How many gathers fusion made part of other kernels.
size_t check_chain(uint64_t seed) {
  const Chain chain(seed);
  test::Rng rng(seed + 1);
  ImportOptions options = options_of(rng);
  const auto fused = import_mlir_text(chain.text(), options);
  options.fuse = false;
  const auto plain = import_mlir_text(chain.text(), options);
  EXPECT_TRUE(plain.ok() && fused.ok()) << "seed " << seed << "\n"
                                        << plain.status().message() << fused.status().message() << "\n"
                                        << chain.text();
  if (!plain.ok() || !fused.ok()) return 0;
  for (int round = 0; round < 3; ++round) {
    const std::vector<Tensor> inputs = inputs_of(*plain, chain.rows(), round == 0, rng);
    const auto want = test::run_copy(*plain, inputs, "reference");
    const std::vector<const char*> backends = seed % 40 == 0
                                                  ? std::vector{"reference", "portable", "auto"}
                                                  : std::vector{"reference", "portable"};  // compiling takes longer than running
    for (const char* const backend : backends) {
      const auto got = test::run_copy(*fused, inputs, backend);
      EXPECT_EQ(got.status().code(), want.status().code()) << "seed " << seed << ", " << backend << "\n" << chain.text();
      if (got.ok() && want.ok())
        EXPECT_EQ(test::difference(got, want), "") << "seed " << seed << ", " << backend << "\n" << chain.text();
    }
  }
  return plain->kernels().size() - std::min(plain->kernels().size(), fused->kernels().size());
}

TEST(FusionChains, KeepTheirBits) {
  if (const char* const seed = std::getenv("STREW_SEED")) {
    check_chain(std::strtoull(seed, nullptr, 10));
    return;
  }
  size_t merged = 0;
  for (uint64_t seed = 1; seed <= 400 && !HasFailure(); ++seed) merged += check_chain(seed);
  EXPECT_GT(merged, 100U) << "most chains have a gather that can be looked up";
}

}  // namespace
}  // namespace strew
