// Uses the library of kernels.json through its C++ header. Exit: 0 right, 1 wrong.
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "test_kernels.hpp"

namespace {

int failures = 0;
void check(bool good, const char* what) {
  if (good) return;
  ++failures;
  std::printf("FAILED: %s\n", what);
}
void fails(const strew::Status& status, strew::Code code, const char* part) {
  const bool is_expected = status.code() == code && status.message().find(part) != std::string::npos;
  check(is_expected, (std::string(part) + ", got: " + status.message()).c_str());
}

/// The members of std::mdspan that views read; this one is transposed.
struct Columns {
  float* data;
  int64_t rows, columns;
  static constexpr size_t rank() { return 2; }
  float* data_handle() const { return data; }
  int64_t extent(size_t d) const { return d == 0 ? rows : columns; }
  int64_t stride(size_t d) const { return d == 0 ? columns : 1; }
};

struct Half {
  uint16_t bits;
};

using strew::DType;
using strew::InputView;
using strew::ResultView;
using Dims1 = std::array<int64_t, 1>;
using Dims2 = std::array<int64_t, 2>;
// What does not compile: another dtype, another rank, a constant result.
static_assert(std::is_constructible_v<InputView<DType::f32, 2>, const float*, Dims2>);
static_assert(!std::is_constructible_v<InputView<DType::f32, 2>, const int32_t*, Dims2>);
static_assert(!std::is_constructible_v<InputView<DType::f32, 2>, const float*, Dims1>);
static_assert(!std::is_constructible_v<ResultView<DType::f32, 2>, const float*, Dims2>);
static_assert(!std::is_constructible_v<InputView<DType::f32, 2>, std::vector<float>&>);
static_assert(!std::is_constructible_v<InputView<DType::f32, 1>, std::vector<double>&>);
static_assert(!std::is_constructible_v<InputView<DType::i64, 1>, std::vector<int32_t>&>);
static_assert(std::is_constructible_v<InputView<DType::bf16, 1>, std::vector<Half>&>);
static_assert(std::is_constructible_v<InputView<DType::bf16, 1>, std::vector<uint16_t>&>);
static_assert(!std::is_constructible_v<InputView<DType::bf16, 1>, std::vector<int16_t>&>);
static_assert(!std::is_constructible_v<InputView<DType::bf16, 1>, std::vector<float>&>);
static_assert(!std::is_constructible_v<InputView<DType::f32, 1>, Columns>);
static_assert(std::is_constructible_v<InputView<DType::f8e5m2, 1>, std::vector<uint8_t>&>);

}  // namespace

int main() {
  const auto opened = strew::open_library<strew::kernels::test_kernels>();
  if (!opened.ok()) {
    std::printf("%s\n", opened.status().message().c_str());
    return 1;
  }
  const strew::kernels::test_kernels kernels = *opened;
  std::vector<float> table(6 * 4), updates(3 * 4, 1);
  std::vector<int32_t> indices = {5, 0, 5};
  check(kernels.add_rows_f32_4({table.data(), {6, 4}}, indices, {updates.data(), {3, 4}}).ok(), "rows of pointers");
  check(table[0] == 1 && table[20] == 2 && table[23] == 2 && table[4] == 0, "their sums");
  check(kernels.add_rows_f32_4(Columns{table.data(), 6, 4}, std::span(indices), Columns{updates.data(), 3, 4}).ok(),
        "rows of mdspans");
  check(table[0] == 2 && table[20] == 4, "their sums");
  std::vector<Half> narrow(6 * 64), ones(3 * 64, Half{0x3f80});
  check(kernels.add_rows_bf16_64({narrow.data(), {6, 64}}, indices, {ones.data(), {3, 64}}).ok(), "bf16");
  check(narrow[0].bits == 0x3f80 && narrow[5 * 64].bits == 0x4000, "their sums");
  fails(kernels.add_rows_f32_4({table.data(), {6, 3}}, indices, {updates.data(), {3, 4}}), strew::Code::invalid_argument,
        "result 0: dim 1 is 3");
  fails(kernels.add_rows_f32_4({table.data(), {6, 4}, {1, 6}}, indices, {updates.data(), {3, 4}}), strew::Code::invalid_argument,
        "stride");
  indices[1] = 7;
  fails(kernels.add_rows_f32_4({table.data(), {6, 4}}, indices, {updates.data(), {3, 4}}), strew::Code::out_of_bounds, "value 7");
  check(table[20] == 4, "nothing is written");
  strew_context_options options = STREW_CONTEXT_OPTIONS_INIT;
  options.cpu = "z80";
  fails(strew::open_library<strew::kernels::test_kernels>(&options).status(), strew::Code::invalid_argument, "cpu: 'z80'");
  const strew::kernels::test_kernels copy = kernels;
  check(copy.context() == kernels.context(), "copies share the library");
  return failures == 0 ? 0 : 1;
}
