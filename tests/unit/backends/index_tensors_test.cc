// Index tensors: a scatter, a gather and a look-up whose index components lie in tensors of their own, with dtypes and strides of their own, give the
// bits of plain loops on every backend, strategy and number of threads; and calls are refused whose index tensors do not fit. tests/differential
// draws them in every form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/halide/can_build/can_build.h"
#include "strew/builder.h"
#include "strew/forms.h"
#include "strew/runtime.h"
#include "tests/support/options.h"
#include "tests/support/views.h"

namespace strew {
namespace {

using namespace types;  // NOLINT: f32, i32
using test::Views;

/// a[i[p, q], j[p, q]] and its like: i is a column that repeats along q, j a tensor of bytes.
struct Grid {
  static constexpr int64_t kRows = 11, kColumns = 13, kWidth = 5, kOuter = 40, kInner = 9;

  Grid() {
    for (int64_t p = 0; p < kOuter; ++p) rows.push_back(p * 7 % (kRows + 2) - 1);
    for (int64_t n = 0; n < kOuter * kInner; ++n) {
      columns.push_back(static_cast<uint8_t>(n * 5 % (kColumns + 1)));
      sources.push_back(static_cast<int32_t>(n * 3 % 4));
    }
    for (int64_t n = 0; n < kRows * kColumns * kWidth; ++n) start.push_back(1.0F / static_cast<float>(1 + n % 29));
    for (int64_t n = 0; n < kOuter * kInner * kWidth; ++n) updates.push_back(0.3F * static_cast<float>(n % 101) - 7.0F);
  }
  TensorType table() const { return f32({kRows, kColumns, kWidth}); }
  std::vector<TensorType> indices() const { return {i64({kOuter, kInner}, {1, 0}), tensor(DType::u8, {kOuter, kInner})}; }
  TensorType slices() const { return f32({kOuter, kInner, kWidth}); }
  Views& add_rows(Views& views) { return views.add(rows.data(), DType::i64, {kOuter, kInner}, {1, 0}); }
  Views& add_columns(Views& views) { return views.add(columns.data(), DType::u8, {kOuter, kInner}); }

  /// Calls visit(position, first element of the row in the table) where both indices are in bounds.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (int64_t n = 0; n < kOuter * kInner; ++n) {
      const int64_t row = rows[static_cast<size_t>(n / kInner)], column = columns[static_cast<size_t>(n)];
      if (row >= 0 && row < kRows && column < kColumns)
        visit(static_cast<size_t>(n), static_cast<size_t>((row * kColumns + column) * kWidth));
    }
  }

  std::vector<int64_t> rows;
  std::vector<uint8_t> columns;
  std::vector<int32_t> sources;
  std::vector<float> start, updates;
};

KernelOptions with(const std::string& backend, const std::string& schedule = "") {
  KernelOptions options;
  options.backend = test::backend(backend);
  test::set_schedule(options, schedule);
  options.threads = 4;
  return options;
}

std::vector<const char*> backends_of_build() {
  std::vector<const char*> out = {"auto", "reference", "portable", "llvm"};
  if (has_halide()) out.push_back("halide");
  return out;
}

TEST(IndexTensors, ScattersGiveTheBitsOfPlainLoops) {
  Runtime runtime;
  Grid grid;
  const Expected<Scatter> op = scatter_at(grid.table(), grid.indices(), grid.slices())
                                   .combine(CombinerKind::add)
                                   .in_place()
                                   .normalize_negative(false)
                                   .oob(OobPolicy::skip_window)
                                   .build();
  ASSERT_TRUE(op.ok()) << op.status().message();
  std::vector<float> want = grid.start;
  grid.for_each([&](size_t position, size_t first) {
    for (size_t w = 0; w < Grid::kWidth; ++w) want[first + w] += grid.updates[position * Grid::kWidth + w];
  });
  for (const char* const backend : backends_of_build())
    for (const char* const schedule : {"", "strategy=window", "strategy=owner", "strategy=radix", "strategy=owner,prefetch=8"}) {
      const auto kernel = runtime.get(Op(*op), with(backend, std::string(backend) == "reference" ? "" : schedule));
      ASSERT_TRUE(kernel.ok()) << kernel.status().message();
      std::vector<float> result = grid.start;
      Views views;
      views.add(result.data(), DType::f32, {Grid::kRows, Grid::kColumns, Grid::kWidth});
      grid.add_rows(views).add(grid.updates.data(), DType::f32, {Grid::kOuter, Grid::kInner, Grid::kWidth});
      const Status status = kernel->run(grid.add_columns(views));
      EXPECT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(result, want) << backend << " " << schedule;
    }
}

TEST(IndexTensors, GathersFillWhereAnyComponentIsOutOfBounds) {
  Runtime runtime;
  Grid grid;
  const Expected<Gather> op =
      gather_at(grid.table(), grid.indices()).normalize_negative(false).fill(OobPolicy::fill_window, Scalar::of(-1.0F)).build();
  ASSERT_TRUE(op.ok()) << op.status().message();
  std::vector<float> want(grid.updates.size(), -1.0F);
  grid.for_each([&](size_t position, size_t first) {
    for (size_t w = 0; w < Grid::kWidth; ++w) want[position * Grid::kWidth + w] = grid.start[first + w];
  });
  for (const char* const backend : backends_of_build()) {
    const auto kernel = runtime.get(Op(*op), with(backend));
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    std::vector<float> result(want.size());
    Views views;
    views.add(result.data(), DType::f32, {Grid::kOuter, Grid::kInner, Grid::kWidth})
        .add(grid.start.data(), DType::f32, {Grid::kRows, Grid::kColumns, Grid::kWidth});
    const Status status = kernel->run(grid.add_columns(grid.add_rows(views)));
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(result, want) << backend;
  }
}

/// sums[k[p, q]] += table[i[p, q], j[p, q]]
TEST(IndexTensors, LookUpsHaveThemToo) {
  Runtime runtime;
  Grid grid;
  const Expected<Scatter> op =
      scatter_rows(f32({4, Grid::kWidth}), i32({Grid::kOuter, Grid::kInner}), grid.slices())
          .look_up(Role::updates, 0,
                   gather_at(grid.table(), grid.indices()).normalize_negative(false).oob(OobPolicy::skip_window))
          .combine(CombinerKind::add)
          .fill({Scalar::of(0.0F)})
          .build();
  ASSERT_TRUE(op.ok()) << op.status().message();
  std::vector<float> want(4 * Grid::kWidth, 0.0F);
  grid.for_each([&](size_t position, size_t first) {
    const auto row = static_cast<size_t>(grid.sources[position]) * Grid::kWidth;
    for (size_t w = 0; w < Grid::kWidth; ++w) want[row + w] += grid.start[first + w];
  });
  for (const char* const backend : backends_of_build()) {
    const auto kernel = runtime.get(Op(*op), with(backend));
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    std::vector<float> result(want.size(), 9.0F);
    Views views;
    views.add(result.data(), DType::f32, {4, Grid::kWidth})
        .add(grid.sources.data(), DType::i32, {Grid::kOuter, Grid::kInner})
        .add(grid.start.data(), DType::f32, {Grid::kRows, Grid::kColumns, Grid::kWidth});
    const Status status = kernel->run(grid.add_columns(grid.add_rows(views)));
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(result, want) << backend;
  }
}

TEST(IndexTensors, ErrorsNameTheComponentAndTensorsMustFit) {
  Runtime runtime;
  const Expected<Scatter> op =
      scatter_at(f32({3, 4}), {i32({kDynamic}), tensor(DType::i16, {kDynamic})}, f32({kDynamic})).in_place().build();
  ASSERT_TRUE(op.ok()) << op.status().message();
  std::vector<float> result(12, 1.0F);
  const std::vector<float> updates{2, 3, 4};
  const std::vector<int32_t> rows{0, -1, 2};
  const std::vector<int16_t> columns{3, -4, 4};
  for (const char* const backend : backends_of_build()) {
    const auto kernel = runtime.get(Op(*op), with(backend));
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    const auto run = [&](int64_t positions, int64_t of_columns) {
      return kernel->run(Views()
                             .add(result.data(), DType::f32, {3, 4})
                             .add(rows.data(), DType::i32, {positions})
                             .add(updates.data(), DType::f32, {positions})
                             .add(columns.data(), DType::i16, {of_columns}));
    };
    EXPECT_EQ(run(3, 3).message(),
              "index out of bounds: update position [2] (linear 2), component 1: value 4, expected -4 <= v <= 3");
    EXPECT_EQ(result, std::vector<float>(12, 1.0F));
    EXPECT_EQ(run(3, 2).message(), "indices 1: dim 0 is 2, expected 3, dim 0 of indices [index_tensors]");
    EXPECT_TRUE(run(2, 2).ok());
    EXPECT_EQ(result, (std::vector<float>{1, 1, 1, 2, 1, 1, 1, 1, 3, 1, 1, 1})) << backend;
    result.assign(12, 1.0F);
  }
}

}  // namespace
}  // namespace strew
