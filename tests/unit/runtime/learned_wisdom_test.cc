// What calls of a kernel learn is kept in a file of wisdom if one is named, and the next runtime whose wisdom it is begins with it.
#include "runtime/learned_wisdom.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "base/log.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/call/callable.h"
#include "runtime/kernel_state.h"
#include "schedules/wisdom/wisdom_file.h"
#include "strew/log.h"
#include "strew/runtime.h"
#include "strew/text.h"
#include "strew/wisdom.h"

namespace strew {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Writes 32 rows of 256 bytes into a table of 256 MiB. Calls begin with plain stores.
constexpr const char* kRows =
    "strew1.scatter(operand=f32[1048576,64] indices=i32[32] updates=f32[32,64] update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 init=in_place oob=skip_window unique_indices=true)";

/// A path in which no file is yet.
std::string new_file(const std::string& name) {
  const std::string path = testing::TempDir() + "/" + name;
  std::filesystem::remove(path);
  return path;
}

Options with_learned_wisdom(const std::string& file) {
  Options options;
  options.threads = 1;
  options.learned_wisdom_file = file;
  return options;
}

Kernel kernel_of(Runtime& runtime, const char* op = kRows, std::shared_ptr<const Wisdom> wisdom = Wisdom::none()) {
  KernelOptions options;
  options.wisdom = std::move(wisdom);
  Expected<Kernel> kernel = runtime.get(*parse_op(op), options);
  EXPECT_TRUE(kernel.ok()) << kernel.status().message();
  return kernel.ok() ? *kernel : Kernel();
}

std::vector<WisdomRecord> records_in(const std::string& file) {
  const Expected<WisdomLines> lines = read_wisdom(file);
  EXPECT_TRUE(lines.ok()) << lines.status().message();
  return lines.ok() ? lines->records : std::vector<WisdomRecord>();
}

/// The schedule of a kernel that a new runtime compiles with the wisdom of the file.
Schedule schedule_with(const std::string& file) {
  Runtime runtime;
  const Expected<std::shared_ptr<const Wisdom>> wisdom = Wisdom::load(file);
  EXPECT_TRUE(wisdom.ok()) << wisdom.status().message();
  const Kernel kernel = kernel_of(runtime, kRows, wisdom.ok() ? *wisdom : Wisdom::none());
  return kernel ? kernel.state()->built->compiled.schedule : Schedule();
}

LessonOutcome streams_are_faster() {
  LessonOutcome learned;
  learned.first = {-1, false};
  learned.other = {-1, true};
  learned.trials = 25;
  learned.ratio = {0.5, 0.45, 0.55};
  return learned;
}

TEST(LearnedWisdom, TheNextRuntimeBeginsWithIt) {
  const std::string file = new_file("learned.jsonl");
  Runtime runtime;
  const Kernel kernel = kernel_of(runtime);
  ASSERT_TRUE(kernel);
  const KeepLesson keep = lesson_keeper(*kernel.state(), file);
  ASSERT_TRUE(keep != nullptr);
  keep(streams_are_faster());
  const std::vector<WisdomRecord> records = records_in(file);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_TRUE(records[0].is_default);
  EXPECT_THAT(records[0].schedule, HasSubstr("nontemporal=false"));
  EXPECT_FALSE(records[1].is_default);
  EXPECT_THAT(records[1].schedule, HasSubstr("nontemporal=true"));
  for (const WisdomRecord& record : records) {
    EXPECT_TRUE(record.is_confirmed);
    EXPECT_EQ(record.rounds, 25);
    EXPECT_EQ(record.indices, "in service");
    EXPECT_EQ(record.backend, "llvm");
  }
  EXPECT_EQ(records[1].ratio, 0.5);
  EXPECT_EQ(records[1].ratio_low, 0.45);
  EXPECT_EQ(records[1].ratio_high, 0.55);
  EXPECT_TRUE(schedule_with(file).nontemporal);
}

TEST(LearnedWisdom, AWayThatIsNotTheFastestAnyMoreIsNotTaken) {
  const std::string file = new_file("unlearned.jsonl");
  Runtime runtime;
  const Kernel kernel = kernel_of(runtime);
  ASSERT_TRUE(kernel);
  const KeepLesson keep = lesson_keeper(*kernel.state(), file);
  LessonOutcome learned = streams_are_faster();
  keep(learned);
  EXPECT_TRUE(schedule_with(file).nontemporal);
  learned.ratio = {1.25, 1.2, 1.3};
  keep(learned);
  EXPECT_EQ(records_in(file).size(), 4U);
  EXPECT_EQ(schedule_with(file), kernel.state()->built->compiled.schedule);
}

TEST(LearnedWisdom, AStrategyIsKeptAsTheSchedulesOwn) {
  const std::string file = new_file("learned_strategy.jsonl");
  Runtime runtime;
  const Kernel kernel = kernel_of(runtime);
  ASSERT_TRUE(kernel);
  LessonOutcome learned = streams_are_faster();
  learned.first = {STREW_STRATEGY_sequential, false};
  learned.other = {STREW_STRATEGY_owner, false};
  learned.threads = 2;
  lesson_keeper(*kernel.state(), file)(learned);
  const std::vector<WisdomRecord> records = records_in(file);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_THAT(records[0].schedule, HasSubstr("strategy=sequential"));
  EXPECT_THAT(records[1].schedule, HasSubstr("strategy=owner"));
  EXPECT_THAT(records[1].schedule, HasSubstr("adapts=false"));
  EXPECT_EQ(records[1].threads, 2);
}

TEST(LearnedWisdom, KernelsWithOpenExtentsKeepNothing) {
  Runtime runtime;
  const Kernel kernel = kernel_of(
      runtime,
      "strew1.scatter(operand=f32[?,64] indices=i32[32] updates=f32[32,64] update_window_dims=[1] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 init=in_place oob=skip_window unique_indices=true)");
  ASSERT_TRUE(kernel);
  EXPECT_TRUE(lesson_keeper(*kernel.state(), new_file("open.jsonl")) == nullptr);
}

TEST(LearnedWisdom, AFileThatCannotBeWrittenIsAWarning) {
  static std::vector<std::string> warnings;
  warnings.clear();
  Runtime runtime;
  const Kernel kernel = kernel_of(runtime);
  ASSERT_TRUE(kernel);
  const KeepLesson keep = lesson_keeper(*kernel.state(), "/dev/null/learned.jsonl");
  set_log([](LogLevel level, std::string_view line) {
    if (level == LogLevel::warn) warnings.emplace_back(line);
  });
  keep(streams_are_faster());
  set_log(nullptr);
  EXPECT_THAT(warnings, ElementsAre(testing::AllOf(HasSubstr("/dev/null/learned.jsonl"), HasSubstr("learned is not kept"))));
}

/// Calls that write rows from all over the table, which plain stores read from memory first: those that bypass the caches take less time on most
/// machines. Ends when the calls have learned that, or after some seconds. Returns how often they changed their way.
uint64_t changes_of_calls(const Runtime& runtime, const Kernel& kernel) {
  const std::unique_ptr<float, decltype(&std::free)> table(static_cast<float*>(std::calloc(1048576, 64 * sizeof(float))),
                                                           &std::free);
  constexpr size_t kCalls = 8192;
  std::vector<int32_t> rows(kCalls * 32);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int32_t>(i * 1000003 % 1048576);
  const std::vector<float> updates(32 * 64, 1);
  const std::vector<int64_t> table_dims{1048576, 64}, index_dims{32}, update_dims{32, 64};
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (runtime.stats().learn_changes == 0 && std::chrono::steady_clock::now() < end)
    for (size_t call = 0; call < kCalls; ++call)
      EXPECT_TRUE(kernel
                      .run(std::vector<TensorView>{{table.get(), table_dims},
                                                   {rows.data() + call * 32, index_dims},
                                                   {const_cast<float*>(updates.data()), update_dims}})
                      .ok());
  return runtime.stats().learn_changes;
}

TEST(LearnedWisdom, KernelsOfARuntimeKeepWhatTheyLearnInItsFile) {
  const std::string file = new_file("served.jsonl");
  Runtime runtime(with_learned_wisdom(file));
  const Kernel kernel = kernel_of(runtime);
  ASSERT_TRUE(kernel);
  EXPECT_TRUE(kernel.state()->callable->learner->keeps());
  const uint64_t changes = changes_of_calls(runtime, kernel);
  EXPECT_EQ(std::filesystem::exists(file), changes > 0);
  if (changes > 0) {
    const std::vector<WisdomRecord> records = records_in(file);
    ASSERT_EQ(records.size(), 2 * changes);
    EXPECT_LT(records[1].ratio_high, 1);
    EXPECT_TRUE(schedule_with(file).nontemporal);
  }
}

TEST(LearnedWisdom, NothingIsKeptUnlessAFileIsNamed) {
  for (const char* none : {"", "off"}) {
    Runtime runtime(with_learned_wisdom(none));
    const Kernel kernel = kernel_of(runtime);
    ASSERT_TRUE(kernel);
    EXPECT_FALSE(kernel.state()->callable->learner->keeps());
  }
}

}  // namespace
}  // namespace strew
