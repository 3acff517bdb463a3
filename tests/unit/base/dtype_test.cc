// A number that is no dtype: it has a name that can be read in a message, and no op with it is taken.
#include "strew/dtype.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strew/runtime.h"
#include "strew/text.h"
#include "strew/verify.h"
#include "tests/support/ops.h"

namespace strew {
namespace {

using ::testing::HasSubstr;

const std::string kGather =
    "strew1.gather(operand=f32[4] indices=i32[2] result=f32[2] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 "
    "slice_sizes=[1])";

TEST(DType, ANumberThatIsNone) {
  for (const int number : {kDTypeCount, 200, 255}) {
    EXPECT_EQ(name(DType(number)), "(no dtype)") << number;
    Op op = test::op_of(kGather);
    std::get<Gather>(op).operand.dtype = DType(number);
    EXPECT_EQ(verify(op).message(), "operand has dtype number " + std::to_string(number) + "; expected 0 to " +
                                        std::to_string(kDTypeCount - 1) + " [op_dtype]");
    op = test::op_of(kGather);
    std::get<Gather>(op).expr = {{ExprNode{}}, {0}};
    std::get<Gather>(op).expr.nodes[0].dtype = DType(number);
    EXPECT_THAT(verify(op).message(), HasSubstr("expr node %0 has dtype number " + std::to_string(number)));
  }
  EXPECT_FALSE(dtype_from_name("(no dtype)").has_value());
}

TEST(DType, ABufferOfNoneIsRefusedByName) {
  const auto kernel = Runtime::process().get(test::op_of(kGather), {});
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  float table[4] = {}, result[2] = {};
  int32_t at[2] = {};
  const int64_t four[] = {4}, two[] = {2};
  const TensorView views[] = {
      {result, DType::f32, 1, two, nullptr}, {table, DType(99), 1, four, nullptr}, {at, DType::i32, 1, two, nullptr}};
  EXPECT_THAT(kernel->run(views).message(), HasSubstr("dtype (no dtype), expected f32"));
}

}  // namespace
}  // namespace strew
