// Messages in fmt's form, and failures with such messages.
#include "compiler/op/message.h"

#include <gtest/gtest.h>

namespace strew {
namespace {

TEST(Message, ShowsValuesAsCanonicalTextHasThem) {
  EXPECT_EQ(message("{} is {}, expected {}", "oob", OobPolicy::clamp, DType::f32), "oob is clamp, expected f32");
  EXPECT_EQ(message("{}", std::vector<int64_t>{1, kDynamic}), "[1,?]");
  EXPECT_EQ(message("{}", TensorType{DType::bf16, {2, 3}, {}}), "bf16[2,3]");
}

TEST(Message, MakesFailures) {
  EXPECT_EQ(invalid_argument("{} operands, expected {}", 3, 2).message(), "3 operands, expected 2");
  EXPECT_EQ(unsupported("step {}", 0).code(), Code::unsupported);
  EXPECT_EQ(violated("scatter_c1", "rank {}", 2).message(), "rank 2 [scatter_c1]");
  EXPECT_EQ(invalid_argument("no {} is replaced").message(), "no {} is replaced");  // without values, the text is the message
}

}  // namespace
}  // namespace strew
