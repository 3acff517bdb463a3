// Rounding where the target has no instruction for it, as x86-64 has none before SSE4.1: kernels of backend llvm call the C library's functions.
// Backend halide refuses such ops. The floating-point environment of kernels, and of those that take the caller's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cfenv>
#include <string>
#include <vector>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

#include "strew/executor.h"
#include "strew/runtime.h"
#include "tests/support/ops.h"
#include "tests/support/options.h"
#include "tests/support/views.h"

namespace strew {
namespace {

template <class T>
std::vector<T> rounded(const char* op, const char* dtype, const std::string& backend) {
  const std::string d = dtype;
  const Op parsed = test::op_of("strew1.scatter(operand=" + d + "[6] indices=i64[6] updates=" + d +
                                "[6] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=expr "
                                "expr={%0=update(0):" +
                                d + "; %1=" + op + "(%0):" + d + "; return %1} init=in_place)");
  KernelOptions options;
  options.backend = test::backend(backend);
  if (backend != "reference") options.target = test::target("x86-64");
  Runtime runtime;
  const auto kernel = runtime.get(parsed, options);
  EXPECT_TRUE(kernel.ok()) << backend << " " << op << " " << dtype << ": " << kernel.status().message();
  if (!kernel.ok()) return {};
  const std::vector<T> updates = {T(-2.5), T(-0.25), T(0.5), T(1.5), T(2.75), T(1e9)};
  const std::vector<int64_t> indices = {0, 1, 2, 3, 4, 5};
  std::vector<T> result(6);
  const DType type = sizeof(T) == 4 ? DType::f32 : DType::f64;
  const Status status = kernel->run(
      test::Views().add(result.data(), type, {6}).add(indices.data(), DType::i64, {6}).add(updates.data(), type, {6}));
  EXPECT_TRUE(status.ok()) << status.message();
  return result;
}

TEST(Rounding, RunsWithoutItsInstructions) {
#ifndef __x86_64__
  GTEST_SKIP() << "target x86-64 is another machine's";
#endif
  for (const char* op : {"ceil", "floor", "trunc", "round_nearest_even", "round_nearest_afz"}) {
    EXPECT_EQ(rounded<float>(op, "f32", "llvm"), rounded<float>(op, "f32", "reference")) << op;
    EXPECT_EQ(rounded<double>(op, "f64", "llvm"), rounded<double>(op, "f64", "reference")) << op;
  }
}

// A kernel of integers computes no floats, but a call computes what it costs. The caller may trap inexact results, or look for them.
TEST(Rounding, CallsOfIntegerKernelsRaiseNoFloatingPointFlags) {
  constexpr int64_t kRows = 4099, kWidth = 17;
  const Op op = test::op_of(
      "strew1.scatter(operand=i32[4099,17] indices=i32[4099] updates=i32[4099,17] update_window_dims=[1] "
      "inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place)");
  Runtime runtime;
  const Kernel kernel = *runtime.get(op);
  std::vector<int32_t> table(static_cast<size_t>(kRows * kWidth)), indices(static_cast<size_t>(kRows));
  const std::vector<int32_t> updates(table.size(), 1);
  for (const int64_t rows : {kRows, int64_t{3}}) {
    const Kernel of_rows =
        rows == kRows
            ? kernel
            : *runtime.get(test::op_of("strew1.scatter(operand=i32[?,17] indices=i32[?] updates=i32[?,17] "
                                       "update_window_dims=[1] inserted_window_dims=[0] "
                                       "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place)"));
    const test::Views views = std::move(test::Views()
                                            .add(table.data(), DType::i32, {kRows, kWidth})
                                            .add(indices.data(), DType::i32, {rows})
                                            .add(updates.data(), DType::i32, {rows, kWidth}));
    std::feclearexcept(FE_ALL_EXCEPT);
    const Status status = of_rows.run(views);
    EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT), 0);
    EXPECT_TRUE(status.ok()) << status.message();
  }
}

#ifdef __x86_64__
/// Flushes subnormals, as a host may have it.
class Flushing {
 public:
  Flushing() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | 0x8040); }
  ~Flushing() { _mm_setcsr(saved_); }
  Flushing(const Flushing&) = delete;
  Flushing& operator=(const Flushing&) = delete;

 private:
  const unsigned saved_;
};

/// Rows of each combiner on numbers around the smallest normal one; `positions` so many that several threads share them, or few.
std::vector<uint32_t> folded(const std::string& combiner, const std::string& dtype, const std::string& target,
                             int64_t positions) {
  constexpr int64_t kRows = 64, kWidth = 16;
  const std::string p = std::to_string(positions);
  KernelOptions options;
  options.target = test::target(target);
  Runtime runtime(*make_executor(4));
  const auto kernel = runtime.get(
      test::op_of(
          "strew1.scatter(operand=" + dtype + "[64,16] indices=i32[" + p + "] updates=" + dtype + "[" + p +
          ",16] update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=" +
          combiner + " init=in_place)"),
      options);
  EXPECT_TRUE(kernel.ok()) << kernel.status().message();
  if (!kernel.ok()) return {};
  const bool is_half = dtype != "f32";
  const auto element = [&](uint32_t bits) { return is_half ? bits >> 16 : bits; };
  constexpr uint32_t kBits[] = {0x00800000, 0x00400000, 0x80400000, 0x00200000, 0x00010000,
                                0x80010000, 0,          0x80000000, 0x00c00000, 0x3f800000};
  std::vector<uint16_t> halves, half_updates;
  std::vector<uint32_t> table, updates;
  std::vector<int32_t> indices;
  for (int64_t i = 0; i < kRows * kWidth; ++i) table.push_back(element(kBits[i % 9]));
  for (int64_t i = 0; i < positions * kWidth; ++i) updates.push_back(element(kBits[i * 7 % 10]));
  for (int64_t i = 0; i < positions; ++i) indices.push_back(static_cast<int32_t>(i * 5 % kRows));
  halves.assign(table.begin(), table.end());
  half_updates.assign(updates.begin(), updates.end());
  const DType type = is_half ? DType::bf16 : DType::f32;
  const Status status =
      kernel->run(test::Views()
                      .add(is_half ? static_cast<void*>(halves.data()) : table.data(), type, {kRows, kWidth})
                      .add(indices.data(), DType::i32, {positions})
                      .add(is_half ? static_cast<void*>(half_updates.data()) : updates.data(), type, {positions, kWidth}));
  EXPECT_TRUE(status.ok()) << status.message();
  return is_half ? std::vector<uint32_t>(halves.begin(), halves.end()) : table;
}

// Target host_fp: the caller's environment, on all threads; else the default one, whatever the caller's is.
TEST(Rounding, TheCallersEnvironmentFlushesWhereTheTargetSaysSo) {
  for (const int64_t positions : {int64_t{64}, int64_t{200'000}})  // every row is updated
    for (const char* combiner : {"add", "mul", "min", "max"}) {
      const std::vector<uint32_t> kept = folded(combiner, "f32", "native", positions);
      EXPECT_EQ(folded(combiner, "f32", "native+host_fp", positions), kept) << combiner << " in the default environment";
      const Flushing environment;
      EXPECT_EQ(folded(combiner, "f32", "native", positions), kept) << combiner << " of a caller that flushes";
      EXPECT_EQ(_mm_getcsr() & 0x8040, 0x8040U);
      for (const char* dtype : {"f32", "bf16"}) {
        const uint32_t exponent = std::string(dtype) == "f32" ? 0x7f800000 : 0x7f80,
                       mantissa = std::string(dtype) == "f32" ? 0x7fffff : 0x7f;
        for (const uint32_t bits : folded(combiner, dtype, "native+host_fp", positions))
          EXPECT_FALSE((bits & exponent) == 0 && (bits & mantissa) != 0)
              << combiner << " " << dtype << ": " << bits << " was not flushed";
      }
    }
}

// What is decoded as a subnormal of f32 would be lost.
TEST(Rounding, FloatsOf8BitsAreNotComputedInTheCallersEnvironment) {
  const auto ask = [](const std::string& combiner, const std::string& backend) {
    KernelOptions options;
    options.target = test::target("native+host_fp");
    options.backend = test::backend(backend);
    return Runtime()
        .get(test::op_of("strew1.scatter(operand=f8e5m2[4] indices=i32[3] updates=f8e5m2[3] inserted_window_dims=[0] "
                         "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=" +
                         combiner + " init=in_place)"),
             options)
        .status();
  };
  EXPECT_TRUE(ask("assign", "auto").ok());
  EXPECT_TRUE(ask("assign", "reference").ok());
  EXPECT_EQ(ask("add", "auto").code(), Code::unsupported);
  EXPECT_THAT(ask("add", "llvm").message(), ::testing::HasSubstr("f8e5m2 is computed by subnormals of f32"));
  EXPECT_THAT(ask("add", "reference").message(), ::testing::HasSubstr("expected a target without host_fp"));
}
#endif

}  // namespace
}  // namespace strew
