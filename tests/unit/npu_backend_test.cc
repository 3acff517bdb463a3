// Backends npu-a3 and npu-a5: an op runs as the simulated program, found by name only, with the results of the reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/backend.h"
#include "compiler/op/text.h"
#include "runtime/kernel.h"

namespace strew::testing {
namespace {

using ::testing::HasSubstr;

Expected<Kernel> kernel_of(const std::string& text, const std::string& backend) {
  static Runtime runtime;
  KernelOptions options;
  options.backend = backend;
  return runtime.get(*parse_op(text), options);
}

const char* const kRows =
    "strew1.scatter(operand=f32[64,32] indices=i32[12,1] updates=f32[12,32] update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place oob=";

struct Data {
  std::vector<float> table = std::vector<float>(64 * 32, 1), updates = std::vector<float>(12 * 32, 2);
  std::vector<int32_t> indices = {3, 1, 4, 1, 5, 9, 2, 6, 99, -1, 5, 8};
  std::vector<int64_t> table_dims = {64, 32}, index_dims = {12, 1}, update_dims = {12, 32};

  Status run(const Kernel& kernel, strew_fault* fault = nullptr) {
    const TensorView table_view{table.data(), DType::f32, 2, table_dims.data(), nullptr};
    const TensorView views[] = {table_view,
                                {indices.data(), DType::i32, 2, index_dims.data(), nullptr},
                                {updates.data(), DType::f32, 2, update_dims.data(), nullptr}};
    return kernel.run(views, fault);
  }
};

TEST(NpuBackend, RunsWhatTheReferenceRuns) {
  for (const char* backend : {"npu-a3", "npu-a5"}) {
    const Expected<Kernel> simulated = kernel_of(std::string(kRows) + "skip_window)", backend);
    const Expected<Kernel> reference = kernel_of(std::string(kRows) + "skip_window)", "reference");
    ASSERT_TRUE(simulated.ok()) << simulated.status().message();
    EXPECT_EQ(simulated->backend(), backend);
    Data a, b;
    const Status status = a.run(*simulated);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_TRUE(b.run(*reference).ok());
    EXPECT_EQ(a.table, b.table);
    EXPECT_NE(a.table, Data().table);
  }
}

TEST(NpuBackend, AnErrorNamesTheIndexAndWritesNothing) {
  const Expected<Kernel> kernel = kernel_of(std::string(kRows) + "error)", "npu-a5");
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  Data data;
  strew_fault fault{};
  const Status status = data.run(*kernel, &fault);
  EXPECT_EQ(status.code(), Code::out_of_bounds);
  EXPECT_EQ(fault.position, 8);
  EXPECT_EQ(fault.value, 99);
  EXPECT_EQ(data.table, Data().table);
}

TEST(NpuBackend, AutoNeverTakesIt) {
  for (const Backend* backend : backends()) EXPECT_EQ(std::string(backend->name()).find("npu"), std::string::npos);
  for (const Backend* backend : simulated_backends()) EXPECT_EQ(find_backend(backend->name()), backend);
}

TEST(NpuBackend, RefusalsSayWhy) {
  const Expected<Kernel> kernel = kernel_of(
      "strew1.scatter(operand=complex64[8,32] indices=i32[4,1] updates=complex64[4,32] update_window_dims=[1] "
      "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=mul init=in_place oob=skip_window)",
      "npu-a5");
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.status().code(), Code::unsupported) << kernel.status().message();
  const Expected<Kernel> unknown = kernel_of(std::string(kRows) + "skip_window)", "npu");
  EXPECT_THAT(std::string(unknown.status().message()), HasSubstr("reference, npu-a3, npu-a5"));
}

}  // namespace
}  // namespace strew::testing
