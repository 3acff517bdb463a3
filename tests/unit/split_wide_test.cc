// Wide accumulation through compiled kernels: what it is for (bf16 sums that do not stick), and the bits it must not touch.
#include "compiler/rewrite/split_wide.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "compiler/op/text.h"
#include "compiler/op/verify.h"
#include "runtime/kernel.h"

namespace strew {
namespace {

Op op_of(const std::string& fields) {
  auto op = parse_op(
      "strew1.scatter(operand=bf16[8] indices=i32[1000] updates=bf16[1000] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add " +
      fields + ")");
  EXPECT_TRUE(op.ok()) << op.status().message();
  return *op;
}

struct Buffers {
  std::vector<uint16_t> table = std::vector<uint16_t>(8, 0);
  std::vector<int32_t> indices = std::vector<int32_t>(1000, 3);
  std::vector<uint16_t> ones = std::vector<uint16_t>(1000, 0x3f80);
  int64_t eight = 8, thousand = 1000;

  Status run(const std::string& fields, const std::string& backend, strew_fault* fault = nullptr) {
    Runtime runtime;
    KernelOptions options;
    options.backend = backend;
    auto kernel = runtime.get(op_of(fields), options);
    if (!kernel.ok()) return kernel.status();
    const TensorView views[] = {{table.data(), DType::bf16, 1, &eight, nullptr},
                                {indices.data(), DType::i32, 1, &thousand, nullptr},
                                {ones.data(), DType::bf16, 1, &thousand, nullptr}};
    return kernel->run(views, fault);
  }
};

TEST(SplitWide, ThousandOnesSumToAThousandInBf16) {
  Buffers native, wide;
  ASSERT_TRUE(native.run("init=in_place", "llvm").ok());
  EXPECT_EQ(native.table[3], 0x4380) << "256: each add rounds";
  const Status status = wide.run("init=in_place accumulate=wide", "llvm");
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(wide.table[3], 0x447a) << "1000";
}

TEST(SplitWide, UntouchedElementsKeepTheirBits) {
  const std::vector<uint16_t> odd = {0x7f81, 0xff81, 0x8000, 0x0000, 0x0001, 0x7fff, 0x8001, 0xff80};  // sNaNs, -0, subnormals
  for (const char* backend : {"llvm", "reference"}) {
    Buffers buffers;
    buffers.table = odd;
    ASSERT_TRUE(buffers.run("init=in_place accumulate=wide", backend).ok());
    for (size_t i = 0; i < odd.size(); ++i)
      if (i != 3) {
        EXPECT_EQ(buffers.table[i], odd[i]) << backend << " element " << i;
      }
  }
}

TEST(SplitWide, BadIndexLeavesTheTableAlone) {
  Buffers buffers;
  buffers.indices[700] = 8;
  strew_fault fault{};
  const Status status = buffers.run("init=in_place accumulate=wide oob=error", "llvm", &fault);
  EXPECT_EQ(status.code(), Code::out_of_bounds) << status.message();
  EXPECT_EQ(fault.position, 700);
  EXPECT_EQ(buffers.table, std::vector<uint16_t>(8, 0));
}

TEST(SplitWide, PartsAreLegalOps) {
  for (const char* init : {"init=in_place", "", "init=fill fill=[1.5:bf16]"}) {
    const auto split = split_wide(op_of(std::string(init) + " accumulate=wide"));
    ASSERT_TRUE(split.has_value());
    EXPECT_TRUE(verify(split->fold).ok()) << verify(split->fold).message();
    EXPECT_TRUE(verify(split->narrow).ok()) << verify(split->narrow).message();
  }
  EXPECT_FALSE(split_wide(op_of("")).has_value());
}

}  // namespace
}  // namespace strew
