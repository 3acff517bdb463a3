// Offsets beyond 4 GiB and more elements than 2^31 and 2^32, on sparse memory: every strategy that is legal puts each update where it belongs,
// also where destinations no longer fit the 32 bits of a key.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <string>
#include <vector>

#include "backends/halide/can_build/can_build.h"
#include "strew/runtime.h"
#include "strew/text.h"
#include "tests/support/options.h"
#include "tests/support/views.h"

namespace strew {
namespace {

constexpr int64_t kRows = 2048, kTimes = 50, kUpdates = kRows * kTimes;  // enough work to wake a second thread

/// Zeros of which only touched pages exist.
class Sparse {
 public:
  explicit Sparse(int64_t bytes) : bytes_(static_cast<size_t>(bytes)) {
    data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  ~Sparse() {
    if (data_ != MAP_FAILED) munmap(data_, bytes_);
  }
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;
  bool ok() const { return data_ != MAP_FAILED; }
  uint8_t* data() const { return static_cast<uint8_t*>(data_); }

 private:
  size_t bytes_;
  void* data_;
};

/// kRows rows spread over all of the table, the first and the last included, sorted, each kTimes times.
std::vector<int64_t> spread(int64_t rows) {
  std::vector<int64_t> indices(kUpdates);
  for (int64_t i = 0; i < kUpdates; ++i) {
    const int64_t nth = i / kTimes;
    indices[static_cast<size_t>(i)] = nth == kRows - 1 ? rows - 1 : (rows - 1) / (kRows - 1) * nth;
  }
  return indices;
}

void check(int64_t rows, int64_t width, const std::string& schedule, const char* backend = "auto") {
  const std::string w = width == 1 ? "" : "," + std::to_string(width);
  auto op = parse_op(
      "strew1.scatter(operand=u8[" + std::to_string(rows) + w + "] indices=i64[102400] updates=u8[102400" + w + "]" +
      (width == 1 ? "" : " update_window_dims=[1]") +
      " inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place oob=error "
      "indices_are_sorted=true)");
  ASSERT_TRUE(op.ok()) << op.status().message();
  KernelOptions options;
  test::set_schedule(options, schedule);
  options.backend = test::backend(backend);
  Runtime runtime;
  auto kernel = runtime.get(*op, options);
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  const Sparse table(rows * width);
  if (!table.ok()) GTEST_SKIP() << "no address space for " << rows * width << " bytes";
  std::vector<int64_t> indices = spread(rows);
  std::vector<uint8_t> updates(static_cast<size_t>(kUpdates * width));
  for (size_t i = 0; i < updates.size(); ++i) updates[i] = static_cast<uint8_t>(i % 97 + 1);
  const int64_t table_dims[] = {rows, width}, update_dims[] = {kUpdates, width};
  const int32_t rank = width == 1 ? 1 : 2;
  const TensorView views[] = {{table.data(), DType::u8, rank, table_dims, nullptr},
                              {indices.data(), DType::i64, 1, update_dims, nullptr},
                              {updates.data(), DType::u8, rank, update_dims, nullptr}};
  const Status status = kernel->run(views);
  ASSERT_TRUE(status.ok()) << status.message();
  for (int64_t i = 0; i < kUpdates; i += kTimes) {
    const int64_t row = indices[static_cast<size_t>(i)];
    for (int64_t e = 0; e < width; ++e) {
      uint8_t expected = 0;
      for (int64_t t = 0; t < kTimes; ++t)
        expected = static_cast<uint8_t>(expected + updates[static_cast<size_t>((i + t) * width + e)]);
      ASSERT_EQ(table.data()[row * width + e], expected) << schedule << " row " << row << " element " << e;
    }
  }
}

TEST(Large, ElementsBeyond2To31And2To32) {
  for (const int64_t elements : {(int64_t{1} << 31) + 4099, (int64_t{1} << 32) + 4099, int64_t{5} << 30})
    for (const char* schedule : {"strategy=sequential", "strategy=owner,threads=2", "strategy=radix,threads=2",
                                 "strategy=runs,threads=2", "strategy=private,threads=2", "strategy=owner,threads=2,prefetch=16"})
      check(elements, 1, schedule);
}

TEST(Large, RowsBeyond4GiB) {
  for (const char* schedule : {"strategy=sequential", "strategy=window,threads=2", "strategy=owner,threads=2,prefetch=8",
                               "strategy=radix,threads=2", "strategy=runs,threads=2"})
    check((int64_t{6} << 30) / 96, 96, schedule);
}

// What Halide's 32-bit coordinates cannot hold is handed to it in pieces that they can.
TEST(Large, HalideBeyond2To31) {
  if (!has_halide()) GTEST_SKIP() << "this build has no Halide (STREW_WITH_HALIDE)";
  for (const char* schedule : {"strategy=sequential", "strategy=owner,threads=2"}) {
    check((int64_t{1} << 31) + 4099, 1, schedule, "halide");
    check((int64_t{6} << 30) / 96, 96, schedule, "halide");
  }
}

// A window loop whose stride is beyond 32 bits.
TEST(Large, HalideStridesBeyond2To31) {
  if (!has_halide()) GTEST_SKIP() << "this build has no Halide (STREW_WITH_HALIDE)";
  constexpr int64_t kStride = 3'000'000'000;
  for (const char* strides : {"{3000000000,1}", "{?,?}"}) {
    const auto op = parse_op(std::string("strew1.scatter(operand=u8[3,8]") + strides +
                             " indices=i32[1,1] updates=u8[1,3,4] update_window_dims=[1,2] scatter_dims_to_operand_dims=[1] "
                             "index_vector_dim=1 combiner=add init=in_place oob=clamp)");
    ASSERT_TRUE(op.ok()) << op.status().message();
    KernelOptions options;
    options.backend = BackendChoice::halide;
    Runtime runtime;
    const auto kernel = runtime.get(*op, options);
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    const Sparse table(2 * kStride + 8);
    if (!table.ok()) GTEST_SKIP() << "no address space";
    const int32_t index = 3;
    const std::vector<uint8_t> updates = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    test::Views views;
    views.add(table.data(), DType::u8, {3, 8}, {kStride, 1}).add(&index, DType::i32, {1, 1});
    views.add(updates.data(), DType::u8, {1, 3, 4});
    const Status status = kernel->run(views);
    ASSERT_TRUE(status.ok()) << status.message();
    for (int64_t row = 0; row < 3; ++row)
      for (int64_t e = 0; e < 8; ++e)
        EXPECT_EQ(table.data()[row * kStride + e], e >= 3 && e < 7 ? updates[static_cast<size_t>(row * 4 + e - 3)] : 0);
  }
}

/// Element `number` of packed 4-bit elements.
int nibble(const uint8_t* data, int64_t number) { return data[number / 2] >> (number % 2 * 4) & 15; }

// Packed elements are numbered from the window's start, so their numbers fit wherever the window lies.
TEST(Large, HalidePackedElementsBeyond2To32) {
  if (!has_halide()) GTEST_SKIP() << "this build has no Halide (STREW_WITH_HALIDE)";
  constexpr int64_t kElements = (int64_t{1} << 33) + 3;
  KernelOptions options;
  options.backend = BackendChoice::halide;
  const auto op = parse_op("strew1.scatter(operand=i4[" + std::to_string(kElements) +
                           "] indices=i64[3] updates=i4[3,5] update_window_dims=[1] scatter_dims_to_operand_dims=[0] "
                           "index_vector_dim=1 combiner=add init=in_place oob=clamp)");
  ASSERT_TRUE(op.ok()) << op.status().message();
  Runtime runtime;
  const auto kernel = runtime.get(*op, options);
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  const Sparse table((kElements + 1) / 2);
  if (!table.ok()) GTEST_SKIP() << "no address space";
  const std::vector<int64_t> indices = {kElements - 5, 4'300'000'001, 4'300'000'001};
  const std::vector<uint8_t> updates = {0x21, 0x43, 0x65, 0x87, 0x19, 0x32, 0x54, 0x06};  // 1 2 3 4 5, 6 7 8 9 1, 2 3 4 5 6
  test::Views views;
  views.add(table.data(), DType::i4, {kElements}).add(indices.data(), DType::i64, {3});
  views.add(updates.data(), DType::i4, {3, 5});
  const Status status = kernel->run(views);
  ASSERT_TRUE(status.ok()) << status.message();
  for (int64_t e = 0; e < 5; ++e) {
    EXPECT_EQ(nibble(table.data(), indices[0] + e), nibble(updates.data(), e));
    EXPECT_EQ(nibble(table.data(), indices[1] + e), (nibble(updates.data(), 5 + e) + nibble(updates.data(), 10 + e)) & 15);
  }
  EXPECT_EQ(nibble(table.data(), indices[1] - 1), 0);
  EXPECT_EQ(nibble(table.data(), indices[1] + 5), 0);
}

}  // namespace
}  // namespace strew
