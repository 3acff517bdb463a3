// A program without the compiler: one object of `strew compile --emit obj`, libstrew_rt, nothing else. It runs a scatter-add on four threads,
// checks the sums, and checks that a bad index and a bad tensor are refused with nothing written. Exit status 0: all as expected.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "add_kernel.h"
#include "runtime/call/callable.h"

extern "C" const strew_kernel STREW_TEST_KERNEL;

namespace {

int failures = 0;

void expect(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "failed: %s\n", what.c_str());
  ++failures;
}

}  // namespace

int main() {
  constexpr int64_t kRows = 50000, kWidth = 16, kUpdates = 200000;
  auto executor = std::make_shared<strew::Executor>(4);
  const auto made = strew::Callable::make(STREW_TEST_KERNEL, executor);
  if (!made.ok()) return std::fprintf(stderr, "%s\n", made.status().message().c_str()), 1;
  const strew::Callable& kernel = **made;

  std::vector<float> table(kRows * kWidth, 1.0F), updates(kUpdates * kWidth, 0.5F);
  std::vector<int32_t> indices(kUpdates);
  for (int64_t i = 0; i < kUpdates; ++i) indices[static_cast<size_t>(i)] = static_cast<int32_t>(i * 7919 % kRows);
  const int64_t table_dims[] = {kRows, kWidth}, index_dims[] = {kUpdates}, update_dims[] = {kUpdates, kWidth};
  std::vector<strew::TensorView> views = {{table.data(), strew::DType::f32, 2, table_dims, nullptr},
                                          {indices.data(), strew::DType::i32, 1, index_dims, nullptr},
                                          {updates.data(), strew::DType::f32, 2, update_dims, nullptr}};
  for (int call = 1; call <= 3; ++call) {
    const strew::Status status = kernel.run(views);
    expect(status.ok(), status.message());
    for (int64_t row = 0; row < kRows; row += 997)  // four updates each
      expect(table[static_cast<size_t>(row * kWidth + 5)] == 1.0F + 2.0F * static_cast<float>(call),
             "row " + std::to_string(row));
  }

  const std::vector<float> before = table;
  indices[123456] = kRows;
  strew_fault fault{};
  const strew::Status bad_index = kernel.run(views, &fault);
  expect(bad_index.code() == strew::Code::out_of_bounds && fault.position == 123456, bad_index.message());
  expect(bad_index.message() ==
             "index out of bounds: update position [123456] (linear 123456), component 0: value 50000, expected 0 <= v <= 49999",
         bad_index.message());
  const int64_t short_dims[] = {kUpdates - 1, kWidth};
  views[2].dims = short_dims;
  const strew::Status bad_dim = kernel.run(views);
  expect(bad_dim.message() == "scatter_c4: updates 0: dim 0 is 199999, expected 200000, dim 0 of indices", bad_dim.message());
  expect(table == before, "a refused call wrote something");
  return failures == 0 ? 0 : 1;
}
