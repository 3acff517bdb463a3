// Descriptors: what is refused where one enters, what its terms come to, and what a Callable refuses.
#include "runtime/call/descriptor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "base/machine.h"
#include "runtime/call/callable.h"
#include "runtime/call/executor/thread_pool.h"
#include "strew/runtime.h"
#include "tests/support/ops.h"

namespace strew {
namespace {

using testing::HasSubstr;

constexpr const char* kOpen =
    "strew1.scatter(operand=f32[?,4] indices=i32[?] updates=f32[?,4] update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place oob=error)";

class Descriptors : public testing::Test {
 protected:
  void SetUp() override {
    auto made = runtime_.get(test::op_of(kOpen));
    ASSERT_TRUE(made.ok()) << made.status().message();
    kernel_ = *made;
    copy_ = kernel_.descriptor();
  }
  std::string refusal() const { return check_descriptor(copy_).message(); }

  Runtime runtime_;
  Kernel kernel_;
  strew_kernel copy_{};
};

TEST_F(Descriptors, SayWhatACallNeeds) {
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(copy_.tensor_count, 3U);
  EXPECT_EQ(copy_.result_count, 1U);
  EXPECT_STREQ(copy_.tensors[0].name, "result 0");
  EXPECT_STREQ(copy_.tensors[1].name, "indices");
  EXPECT_STREQ(copy_.tensors[2].dtype_name, "f32");
  EXPECT_EQ(copy_.tensors[0].dims[0], STREW_OPEN);
  EXPECT_EQ(copy_.tensors[0].dims[1], 4);
  EXPECT_EQ(copy_.name, kernel_.symbol());
  ASSERT_EQ(copy_.source_count, 1U);
  const strew_index_source& source = copy_.sources[0];
  EXPECT_EQ(source.kind, static_cast<uint32_t>(STREW_VECTORS));
  EXPECT_EQ(source.policy, static_cast<uint32_t>(OobPolicy::error));
  EXPECT_EQ(source.table, 0U);
  EXPECT_EQ(source.checks_first, 1U);
  ASSERT_EQ(source.component_count, 1U);
  EXPECT_STREQ(copy_.tensors[source.components[0].tensor].name, "indices");
  EXPECT_EQ(source.components[0].dim, 0U);
  EXPECT_EQ(copy_.tensors[0].source, 0);
  EXPECT_EQ(copy_.tensors[0].result_kind, static_cast<uint32_t>(STREW_PER_ELEMENT));
  EXPECT_EQ(copy_.tensors[2].source, -1);
  for (uint32_t t = 0; t < copy_.tensor_count; ++t) EXPECT_EQ(copy_.tensors[t].codec, nullptr);
  EXPECT_NE(copy_.entries[STREW_ENTRY_range], nullptr);
  EXPECT_NE(copy_.entries[STREW_ENTRY_check], nullptr);
  EXPECT_EQ(copy_.entries[STREW_ENTRY_init], nullptr);
  // The updates have a row per index; nothing else about these dims is open.
  ASSERT_EQ(copy_.constraint_count, 1U);
  EXPECT_EQ(copy_.constraints[0].kind, static_cast<uint32_t>(STREW_EQUAL));
  EXPECT_STREQ(copy_.constraints[0].label, "scatter_c4");
}

TEST_F(Descriptors, OfAnUnknownStrategyAreRefused) {
  copy_.strategy = STREW_STRATEGY_COUNT;
  EXPECT_THAT(refusal(), HasSubstr(": strategy is number " + std::to_string(STREW_STRATEGY_COUNT) + ", expected 0 to " +
                                   std::to_string(STREW_STRATEGY_COUNT - 1) + "; a newer version of strew has compiled it"));
  EXPECT_EQ(check_descriptor(copy_).code(), Code::unsupported);
  EXPECT_FALSE(Callable::make(copy_, process_executor(), 1, nullptr).ok());
  copy_ = kernel_.descriptor();
  copy_.strategies |= 1U << STREW_STRATEGY_COUNT;  // a call takes those that it knows
  EXPECT_EQ(refusal(), "");
}

TEST_F(Descriptors, OfAnotherVersionAreRefused) {
  copy_.abi = 1;
  EXPECT_THAT(refusal(), HasSubstr("kernel: abi is 1 of "));
  EXPECT_THAT(refusal(), HasSubstr("expected " + std::to_string(STREW_ABI_VERSION) + " of " +
                                   std::to_string(sizeof(strew_kernel)) + "; compile it with this version of strew"));
  copy_ = kernel_.descriptor();
  copy_.size -= 8;
  EXPECT_THAT(refusal(), HasSubstr("kernel: abi is " + std::to_string(STREW_ABI_VERSION) + " of " +
                                   std::to_string(sizeof(strew_kernel) - 8) + " bytes"));
  EXPECT_FALSE(Binder::make(copy_).ok());
  EXPECT_FALSE(Callable::make(copy_, std::make_shared<ThreadPool>(1)).ok());
}

TEST_F(Descriptors, ThatNeedWhatTheMachineLacksAreRefused) {
  copy_.features = "avx2,of_another_machine";
  EXPECT_THAT(refusal(), HasSubstr("kernel " + kernel_.symbol() + ": this machine lacks "));
  EXPECT_THAT(refusal(), HasSubstr("of_another_machine; expected a kernel whose CPU features this machine has"));
  EXPECT_EQ(lacking_features(""), "");
}

TEST_F(Descriptors, OfTooManyDimsAreRefused) {
  std::vector<strew_tensor_rule> rules(copy_.tensors, copy_.tensors + copy_.tensor_count);
  rules[1].rank = 65;
  copy_.tensors = rules.data();
  EXPECT_THAT(refusal(), HasSubstr(std::string(": rank of ") + rules[1].name + " is 65, expected at most 64"));
}

TEST_F(Descriptors, OfPartsAreCheckedToo) {
  strew_kernel part = copy_;
  part.abi = STREW_ABI_VERSION + 1;
  copy_.part_count = 1;
  copy_.parts[0] = &part;
  EXPECT_THAT(refusal(), HasSubstr("abi is " + std::to_string(STREW_ABI_VERSION + 1)));
}

TEST_F(Descriptors, TermsSaturate) {
  const uint32_t factors[] = {0, 1, 1};
  copy_.factors = factors;
  const int64_t dyn[] = {3, 5}, huge[] = {int64_t{1} << 40, int64_t{1} << 40};
  EXPECT_EQ(evaluate(copy_, {2, 0, 3}, dyn), 2 * 3 * 5 * 5);
  EXPECT_EQ(evaluate(copy_, {7, 0, 0}, nullptr), 7);
  EXPECT_EQ(evaluate(copy_, {1, 0, 3}, huge), std::numeric_limits<int64_t>::max());
}

TEST_F(Descriptors, UnitsKeepLinesWhole) {
  const int64_t line = 64;
  EXPECT_EQ(line_unit(copy_, {1, 0, 0}, nullptr, line), 16);  // f32 side by side
  EXPECT_EQ(line_unit(copy_, {-4, 0, 0}, nullptr, line), 4);
  EXPECT_EQ(line_unit(copy_, {3, 0, 0}, nullptr, line), 16);
  EXPECT_EQ(line_unit(copy_, {16, 0, 0}, nullptr, line), 1);
  EXPECT_EQ(line_unit(copy_, {0, 0, 0}, nullptr, line), 1);
  EXPECT_EQ(line_unit(copy_, {std::numeric_limits<int64_t>::min(), 0, 0}, nullptr, line), 1);
}

TEST_F(Descriptors, KeysFitUpTo32Bits) {
  const strew_reach reach{{1, 0, 1}, {1, 0, 0}};
  const uint32_t factors[] = {0};
  copy_.factors = factors;
  copy_.reaches = &reach;
  copy_.reach_count = 1;
  const int64_t most = std::numeric_limits<uint32_t>::max();  // itself stands for "dropped"
  EXPECT_TRUE(keys_fit(copy_, &most));
  const int64_t more = most + 1;
  EXPECT_FALSE(keys_fit(copy_, &more));
}

TEST_F(Descriptors, CallablesRefuseThreadsOutOfRange) {
  for (const int threads : {-1, 1025})
    EXPECT_EQ(Callable::make(copy_, std::make_shared<ThreadPool>(1), threads).status().message(),
              "threads: " + std::to_string(threads) + ", expected 0..1024");
}

TEST_F(Descriptors, CallablesCheckAloneAsManyPositionsAsIntegersHold) {
  auto limits = std::make_shared<ExecutionLimits>();
  limits->costs.position_ns = 1e-9F;
  auto callable = Callable::make(copy_, std::make_shared<ThreadPool>(1), 1, limits);
  ASSERT_TRUE(callable.ok()) << callable.status().message();
  EXPECT_EQ((*callable)->checked_alone, std::numeric_limits<int32_t>::max());
}

}  // namespace
}  // namespace strew
