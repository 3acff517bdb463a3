// Wide accumulation through compiled kernels: what it is for (bf16 sums that do not stick), and the bits it must not touch.
#include "compiler/rewrite/split_wide.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "strew/runtime.h"
#include "strew/text.h"
#include "strew/verify.h"
#include "tests/support/ops.h"
#include "tests/support/options.h"

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

  Status run(const std::string& fields, const std::string& backend, BadIndex* bad_index = nullptr) {
    Runtime runtime;
    KernelOptions options;
    options.backend = test::backend(backend);
    auto kernel = runtime.get(op_of(fields), options);
    if (!kernel.ok()) return kernel.status();
    const TensorView views[] = {{table.data(), DType::bf16, 1, &eight, nullptr},
                                {indices.data(), DType::i32, 1, &thousand, nullptr},
                                {ones.data(), DType::bf16, 1, &thousand, nullptr}};
    return kernel->run(views, bad_index);
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
  BadIndex bad_index;
  const Status status = buffers.run("init=in_place accumulate=wide oob=error", "llvm", &bad_index);
  EXPECT_EQ(status.code(), Code::out_of_bounds) << status.message();
  EXPECT_EQ(bad_index.position, 700);
  EXPECT_EQ(bad_index.source, 1);  // of the call's tensors: the fold binds others
  EXPECT_EQ(buffers.table, std::vector<uint16_t>(8, 0));
}

TEST(SplitWide, PartsAreLegalOps) {
  for (const char* init : {"init=in_place", "", "init=fill fill=[1.5:bf16]"}) {
    const auto split = split_wide(test::verified(op_of(std::string(init) + " accumulate=wide")));
    ASSERT_TRUE(split.has_value());
    EXPECT_TRUE(verify(split->fold).ok()) << verify(split->fold).message();
    EXPECT_TRUE(verify(split->narrow).ok()) << verify(split->narrow).message();
  }
  EXPECT_FALSE(split_wide(test::verified(op_of(""))).has_value());
}

/// f32 operands that bf16 rounds: the fold starts from the rounded ones, untouched elements are the rounded ones, and an index out of
/// bounds leaves the result as it was.
TEST(SplitWide, OperandsOfAnotherDtype) {
  const std::string fields =
      "operand=f32[8] indices=i32[1000] updates=bf16[1000] result=bf16[8] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] "
      "index_vector_dim=1 combiner=add accumulate=wide oob=error";
  const auto op = parse_op("strew1.scatter(" + fields + ")");
  ASSERT_TRUE(op.ok()) << op.status().message();
  ASSERT_TRUE(split_wide(test::verified(*op))->start.has_value());
  EXPECT_TRUE(verify(*split_wide(test::verified(*op))->start).ok()) << verify(*split_wide(test::verified(*op))->start).message();
  std::vector<std::vector<uint16_t>> results;
  for (const char* backend : {"llvm", "reference"}) {
    Runtime runtime;
    KernelOptions options;
    options.backend = test::backend(backend);
    const auto kernel = runtime.get(*op, options);
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    std::vector<float> table{1.00390625F, 2, 3, 0.501953125F, 5, -0.0F, 7, 8};  // the first is half way to the next bf16
    std::vector<uint16_t> result(8, 0x1234), ones(1000, 0x3f80);
    std::vector<int32_t> indices(1000, 3);
    const int64_t eight = 8, thousand = 1000;
    const TensorView views[] = {{result.data(), DType::bf16, 1, &eight, nullptr},
                                {table.data(), DType::f32, 1, &eight, nullptr},
                                {indices.data(), DType::i32, 1, &thousand, nullptr},
                                {ones.data(), DType::bf16, 1, &thousand, nullptr}};
    indices[999] = 9;
    EXPECT_EQ(kernel->run(views, nullptr).code(), Code::out_of_bounds) << backend;
    EXPECT_EQ(result, std::vector<uint16_t>(8, 0x1234)) << backend;
    indices[999] = 3;
    ASSERT_TRUE(kernel->run(views, nullptr).ok()) << backend;
    results.push_back(result);
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0][3], 0x447a) << "1000.5, rounded once";
  EXPECT_EQ(results[0][5], 0x8000);
}

}  // namespace
}  // namespace strew
