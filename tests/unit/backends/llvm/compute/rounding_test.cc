// Rounding where the target has no instruction for it, as x86-64 has none before SSE4.1: kernels of backend llvm call the C library's functions.
// Backend halide refuses such ops.
#include <gtest/gtest.h>

#include <cfenv>
#include <vector>

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

}  // namespace
}  // namespace strew
