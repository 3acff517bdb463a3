// The copy of a whole operand: every byte, and no other, whatever the alignment, through the caches and past them, on any number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "strew/runtime.h"
#include "strew/text.h"
#include "tests/support/options.h"

namespace strew {
namespace {

TEST(Init, CopiesTheWholeOperandFromAnyAlignmentToAny) {
  constexpr int64_t kElements = 9'000'001;  // 36 MB: beyond the caches
  constexpr uint8_t kGuard = 0xa5;
  constexpr size_t kBytes = kElements * 4;
  auto op = parse_op(
      "strew1.scatter(operand=f32[9000001] indices=i32[1] updates=f32[1] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] "
      "index_vector_dim=1 init=copy)");
  ASSERT_TRUE(op.ok()) << op.status().message();
  std::vector<uint8_t> from(kBytes + 256), to(kBytes + 256);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i * 7 + i / 251);
  const int64_t dims[] = {kElements}, one[] = {1};
  const int32_t index = 5;
  const float update = 2.5f;
  for (const char* schedule : {"threads=1", "threads=2", "threads=3,vector_bytes=16"}) {
    Runtime runtime;
    KernelOptions options;
    test::set_schedule(options, schedule);
    auto kernel = runtime.get(*op, options);
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    for (const size_t shift : {0u, 4u, 60u}) {
      std::fill(to.begin(), to.end(), kGuard);
      uint8_t* const result = to.data() + 64 + shift;
      const uint8_t* const operand = from.data() + 64 + 8;
      const TensorView views[] = {{result, DType::f32, 1, dims, nullptr},
                                  {const_cast<uint8_t*>(operand), DType::f32, 1, dims, nullptr},
                                  {const_cast<int32_t*>(&index), DType::i32, 1, one, nullptr},
                                  {const_cast<float*>(&update), DType::f32, 1, one, nullptr}};
      const Status status = kernel->run(views);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(result[-1], kGuard);
      EXPECT_EQ(result[kBytes], kGuard);
      EXPECT_EQ(reinterpret_cast<const float*>(result)[5], 2.5f);
      EXPECT_TRUE(std::equal(result, result + 20, operand)) << schedule << " shift " << shift;
      EXPECT_TRUE(std::equal(result + 24, result + kBytes, operand + 24)) << schedule << " shift " << shift;
    }
  }
}

}  // namespace
}  // namespace strew
