// A program without the compiler: objects of `strew compile --emit obj`, libstrew_rt, nothing else. On four threads it runs a scatter-add,
// whose bad index and bad tensor are refused with nothing written; a sum in a wider dtype than its result, which is a kernel made of parts;
// and a gather that calls a mathematical function. All have dims that only the call says. And it sorts positions by their index. Exit status 0: all as expected.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "add_kernel.h"
#include "strew/compiled_kernel.h"
#include "strew/csr.h"
#include "strew/segments.h"
#include "tanh_kernel.h"
#include "wide_kernel.h"

extern "C" const strew_kernel STREW_TEST_ADD, STREW_TEST_WIDE, STREW_TEST_TANH;

namespace {

constexpr int64_t kWidth = 16;

int failures = 0;

void expect(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "failed: %s\n", what.c_str());
  ++failures;
}

/// Nothing where the descriptor is refused, which counts as a failure.
std::optional<strew::CompiledKernel> prepare(const strew_kernel& kernel) {
  static const std::shared_ptr<strew::Executor> executor = *strew::make_executor(4);
  strew::Expected<strew::CompiledKernel> made = strew::CompiledKernel::make(kernel, 0, executor);
  if (made.ok()) return std::move(*made);
  expect(false, made.status().message());
  return std::nullopt;
}

void add_rows() {
  constexpr int64_t kRows = 50000, kUpdates = 200000;
  const auto kernel = prepare(STREW_TEST_ADD);
  if (!kernel) return;
  std::vector<float> table(kRows * kWidth, 1.0F), updates(kUpdates * kWidth, 0.5F);
  std::vector<int32_t> indices(kUpdates);
  for (int64_t i = 0; i < kUpdates; ++i) indices[static_cast<size_t>(i)] = static_cast<int32_t>(i * 7919 % kRows);
  const int64_t table_dims[] = {kRows, kWidth}, index_dims[] = {kUpdates}, update_dims[] = {kUpdates, kWidth};
  std::vector<strew::TensorView> views = {
      {table.data(), table_dims}, {indices.data(), index_dims}, {updates.data(), update_dims}};
  for (int call = 1; call <= 3; ++call) {
    const strew::Status status = kernel->run(views);
    expect(status.ok(), status.message());
    for (int64_t row = 0; row < kRows; row += 997)  // four updates each
      expect(table[static_cast<size_t>(row * kWidth + 5)] == 1.0F + 2.0F * static_cast<float>(call),
             "row " + std::to_string(row));
  }

  const std::vector<float> before = table;
  indices[123456] = kRows;
  strew::BadIndex found;
  const strew::Status bad_index = kernel->run(views, &found);
  expect(bad_index.code() == strew::Code::out_of_bounds && found.position == 123456, bad_index.message());
  expect(bad_index.message() ==
             "index out of bounds: update position [123456] (linear 123456), component 0: value 50000, expected 0 <= v <= 49999",
         bad_index.message());
  const int64_t short_dims[] = {kUpdates - 1, kWidth};
  views[2].dims = short_dims;
  const strew::Status bad_dim = kernel->run(views);
  expect(bad_dim.message() == "updates 0: dim 0 is 199999, expected 200000, dim 0 of indices [scatter_c4]", bad_dim.message());
  expect(table == before, "a refused call wrote something");

  const strew::NamedTensor by_name[] = {
      {"updates", {updates.data(), update_dims}}, {"result", views[0]}, {"indices 0", views[1]}};
  const strew::Status no_such_name = kernel->run_by_name(by_name);
  expect(no_such_name.message() ==
             "tensors: \"indices 0\" is no tensor of this kernel, expected one of result 0, indices, updates 0",
         no_such_name.message());
}

/// A thousand ones in bf16: summed in f32 and rounded once they are 1000; rounded after every addition they stop at 256.
void sum_wide(int64_t rows) {
  constexpr uint16_t kOne = 0x3f80, kThousand = 0x447a, kOther = 0x7f81;  // the last one, a signalling NaN, has to keep its bits
  const auto kernel = prepare(STREW_TEST_WIDE);
  if (!kernel) return;
  const int64_t summed = rows / 2, count = 1000 * summed;
  std::vector<uint16_t> table(static_cast<size_t>(rows * kWidth), kOther), updates(static_cast<size_t>(count * kWidth), kOne);
  for (int64_t i = 0; i < summed * kWidth; ++i) table[static_cast<size_t>(i)] = 0;
  std::vector<int32_t> indices(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) indices[static_cast<size_t>(i)] = static_cast<int32_t>(i % summed);
  const int64_t table_dims[] = {rows, kWidth}, index_dims[] = {count}, update_dims[] = {count, kWidth};
  const std::vector<strew::TensorView> views = {{table.data(), strew::DType::bf16, table_dims},
                                                {indices.data(), index_dims},
                                                {updates.data(), strew::DType::bf16, update_dims}};
  const strew::Status status = kernel->run(views);
  expect(status.ok(), status.message());
  for (int64_t i = 0; i < rows * kWidth; ++i)
    expect(table[static_cast<size_t>(i)] == (i < summed * kWidth ? kThousand : kOther), "wide: element " + std::to_string(i));
}

/// `columns` of the table, of which every row gives the first 16.
void gather_tanh(int64_t rows, int64_t columns, int64_t count) {
  const auto kernel = prepare(STREW_TEST_TANH);
  if (!kernel) return;
  std::vector<float> table(static_cast<size_t>(rows * columns)), result(static_cast<size_t>(count * kWidth));
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i % 1009) / 300.0F - 1.5F;
  std::vector<int64_t> indices(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) indices[static_cast<size_t>(i)] = i * 31 % rows;
  const int64_t result_dims[] = {count, kWidth}, table_dims[] = {rows, columns}, index_dims[] = {count};
  const std::vector<strew::TensorView> views = {
      {result.data(), result_dims}, {table.data(), table_dims}, {indices.data(), index_dims}};
  const strew::Status status = kernel->run(views);
  expect(status.ok(), status.message());
  for (int64_t i = 0; i < count * kWidth; ++i) {
    const float from = table[static_cast<size_t>(indices[static_cast<size_t>(i / kWidth)] * columns + i % kWidth)];
    expect(result[static_cast<size_t>(i)] == static_cast<float>(std::tanh(static_cast<double>(from))),
           "tanh: element " + std::to_string(i));
  }
}

void sort_by_index() {
  const std::vector<int32_t> indices = {2, 0, 2, 1, 0};
  std::vector<int64_t> offsets(4), permutation(5);
  const int64_t positions[] = {5}, ends[] = {4};
  const strew::Status status = strew::csr({indices.data(), positions}, {offsets.data(), ends}, {permutation.data(), positions});
  expect(status.ok(), status.message());
  expect(offsets == std::vector<int64_t>{0, 2, 3, 5} && permutation == std::vector<int64_t>{1, 4, 3, 0, 2}, "csr");
}

void number_segments() {
  const std::vector<int32_t> lengths = {2, 1, 0, 3};
  std::vector<int64_t> ids(6);
  const int64_t segments[] = {4}, rows[] = {6};
  const strew::Status status = strew::segment_ids({lengths.data(), segments}, strew::SegmentBounds::lengths, {ids.data(), rows});
  expect(status.ok(), status.message());
  expect(ids == std::vector<int64_t>{0, 0, 1, 3, 3, 3}, "segment_ids");
}

}  // namespace

int main() {
  add_rows();
  sum_wide(2);
  sum_wide(40);
  gather_tanh(7, 16, 3);
  gather_tanh(300, 21, 5000);
  sort_by_index();
  number_segments();
  return failures == 0 ? 0 : 1;
}
