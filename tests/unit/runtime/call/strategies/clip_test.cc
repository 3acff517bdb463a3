// Strategy clip: legality, overlapping windows on threads under every policy, and the sample that finds a hot row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "backends/halide/can_build/can_build.h"
#include "runtime/call/strategies/owners.h"
#include "schedules/strategies/strategy.h"
#include "strew/runtime.h"
#include "strew/text.h"
#include "tests/support/options.h"
#include "tests/support/schedules.h"

namespace strew {
namespace {
using testing::HasSubstr;

std::string overlapping(const std::string& oob) {
  return "strew1.scatter(operand=f32[1000,64] indices=i32[300] updates=f32[300,40,64] update_window_dims=[1,2] "
         "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place oob=" +
         oob + ")";
}

TEST(Clip, SharesOutOverlappingWindowsOnly) {
  EXPECT_EQ(test::schedule_message(overlapping("skip_element"), "strategy=clip"), "");
  const std::string rows =
      "strew1.scatter(operand=f32[1000,64] indices=i32[300] updates=f32[300,64] update_window_dims=[1] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place)";
  EXPECT_THAT(test::schedule_message(rows, "strategy=clip"), HasSubstr("no index moves the first window loop"));
  const std::string packed =
      "strew1.scatter(operand=i4[1000] indices=i32[300] updates=i4[300,40] update_window_dims=[1] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 init=in_place)";
  EXPECT_THAT(test::schedule_message(packed, "strategy=clip"), HasSubstr("packed i4"));
  const std::string gather =
      "strew1.gather(operand=f32[1000,64] indices=i32[300] result=f32[300,40,64] offset_dims=[1,2] start_index_map=[0] "
      "index_vector_dim=1 slice_sizes=[40,64])";
  EXPECT_THAT(test::schedule_message(gather, "strategy=clip"), HasSubstr("a gather has no destinations"));
}

/// The same call on one thread and on three, whose ranges cut through windows, from either compiler.
class ClipPolicies : public testing::TestWithParam<const char*> {};

TEST_P(ClipPolicies, GiveTheBitsOfOneThread) {
  Runtime runtime;
  const Op op = *parse_op(overlapping(GetParam()));
  std::vector<int32_t> indices(300);
  std::vector<float> updates(300 * 40 * 64);
  for (size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<int32_t>(i * 7919 % 1030) - 20;
  if (std::string_view(GetParam()) == "undefined")
    for (int32_t& index : indices) index = (index + 20) % 960;
  for (size_t i = 0; i < updates.size(); ++i) updates[i] = 1.0F / static_cast<float>(i % 977 + 1);
  std::vector<std::vector<float>> results;
  struct Way {
    const char *schedule, *backend;
  };
  std::vector<Way> ways = {{"strategy=sequential", "llvm"}, {"strategy=clip,threads=3", "llvm"}};
  if (has_halide()) ways.push_back({"strategy=clip,threads=3", "halide"});
  for (const Way& way : ways) {
    KernelOptions options;
    test::set_schedule(options, way.schedule);
    options.backend = test::backend(way.backend);
    const Expected<Kernel> kernel = runtime.get(op, options);
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    std::vector<float>& result = results.emplace_back(1000 * 64, 0.5F);
    const int64_t result_dims[] = {1000, 64}, index_dims[] = {300}, update_dims[] = {300, 40, 64};
    const TensorView views[] = {{result.data(), DType::f32, 2, result_dims},
                                {indices.data(), DType::i32, 1, index_dims},
                                {updates.data(), DType::f32, 3, update_dims}};
    EXPECT_TRUE(kernel->run(views).ok());
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results.back());
  EXPECT_NE(results[0], std::vector<float>(1000 * 64, 0.5F));
}

INSTANTIATE_TEST_SUITE_P(All, ClipPolicies, testing::Values("undefined", "skip_element", "skip_window", "clamp", "wrap"));

/// Through the executor: seven in eight updates meet in one row, so two threads share its columns.
TEST(Owners, GiveTheBitsOfOneThreadWhereARowIsHot) {
  constexpr int64_t kUpdates = 20000, kRows = 3000, kCols = 64;
  const Op op = *parse_op(
      "strew1.scatter(operand=f32[3000,64] indices=i32[20000] updates=f32[20000,64] update_window_dims=[1] "
      "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place)");
  std::vector<int32_t> indices(kUpdates);
  std::vector<float> updates(kUpdates * kCols);
  for (size_t i = 0; i < indices.size(); ++i) indices[i] = i % 8 == 0 ? static_cast<int32_t>(i * 7919 % kRows) : 17;
  for (size_t i = 0; i < updates.size(); ++i) updates[i] = 1.0F / static_cast<float>(i % 977 + 1);
  Runtime runtime;
  std::vector<std::vector<float>> results;
  for (const char* schedule : {"strategy=sequential", "strategy=owner,threads=2", "strategy=radix,threads=3"}) {
    KernelOptions options;
    test::set_schedule(options, schedule);
    const Expected<Kernel> kernel = runtime.get(op, options);
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    EXPECT_EQ(kernel->entry(STREW_ENTRY_clip) != nullptr, std::string_view(schedule) != "strategy=sequential");
    std::vector<float>& result = results.emplace_back(kRows * kCols, 0.5F);
    const int64_t result_dims[] = {kRows, kCols}, index_dims[] = {kUpdates}, update_dims[] = {kUpdates, kCols};
    const TensorView views[] = {{result.data(), DType::f32, 2, result_dims},
                                {indices.data(), DType::i32, 1, index_dims},
                                {updates.data(), DType::f32, 2, update_dims}};
    EXPECT_TRUE(kernel->run(views).ok());
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

/// Keys that are their position times a step.
template <int kStep>
int32_t keys_of(const strew_args* args, int64_t begin, int64_t end, strew_fault*) {
  auto* keys = static_cast<uint32_t*>(const_cast<void*>(args->key));
  for (int64_t p = begin; p < end; ++p) keys[p - args->n_list] = static_cast<uint32_t>(p * kStep);
  return STREW_OK;
}

TEST(Owners, KnowAHotRowFromASample) {
  strew_args args{};
  const KeyScan same(keys_of<0>, args), apart(keys_of<1>, args);
  EXPECT_TRUE(is_lopsided(same, 100000, Bytes(256), kDefaultLimits));
  EXPECT_FALSE(is_lopsided(apart, 100000, Bytes(256), kDefaultLimits));
  EXPECT_FALSE(is_lopsided(same, 100, Bytes(256), kDefaultLimits)) << "too few to say";
}

}  // namespace
}  // namespace strew
