// The verbose log: a line per kernel built, a line per copied operand, nothing when it is off.
#include "strew/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <vector>

#include "strew/runtime.h"
#include "tests/support/views.h"

namespace strew {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::mutex mutex;
std::vector<std::string> lines;

void keep(LogLevel level, std::string_view line) {
  const std::lock_guard lock(mutex);
  lines.push_back(std::to_string(static_cast<int>(level)) + ": " + std::string(line));
}

std::vector<std::string> taken() {
  const std::lock_guard lock(mutex);
  return std::exchange(lines, {});
}

TEST(Log, SaysWhatWasBuiltAndWhatWasCopied) {
  const auto op = parse_op(
      "strew1.scatter(operand=f32[6,4] indices=i32[3] updates=f32[3,4] update_window_dims=[1] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1)");
  ASSERT_TRUE(op.ok()) << op.status().message();
  std::vector<float> operand(24), result(24), updates(12);
  std::vector<int32_t> indices = {1, 2, 3};
  const auto views = [&](std::vector<float>& into) {
    return test::Views()
        .add(into.data(), DType::f32, {6, 4})
        .add(operand.data(), DType::f32, {6, 4})
        .add(indices.data(), DType::i32, {3})
        .add(updates.data(), DType::f32, {3, 4});
  };

  Runtime runtime;
  set_log(keep, LogLevel::call);
  const auto kernel = runtime.get(*op);
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  EXPECT_THAT(taken(), ElementsAre(HasSubstr("1: built " + kernel->symbol() + ": backend llvm, schedule strategy=sequential")));

  ASSERT_TRUE(kernel->run(views(operand)).ok());
  EXPECT_THAT(taken(), IsEmpty());
  ASSERT_TRUE(kernel->run(views(result)).ok());
  EXPECT_THAT(taken(), ElementsAre("2: " + kernel->symbol() + ": the whole operand was copied to the result, 96 bytes"));

  set_log(keep, LogLevel::compile);
  ASSERT_TRUE(kernel->run(views(result)).ok());
  EXPECT_THAT(taken(), IsEmpty());
  set_log(nullptr);
  ASSERT_TRUE(Runtime().get(*op).ok());
  EXPECT_THAT(taken(), IsEmpty());
}

}  // namespace
}  // namespace strew
