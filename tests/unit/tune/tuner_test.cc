// The tuner on real kernels: short runs, whose times are not looked at, only what is kept and what follows.
#include "tune/tuner.h"

#include <csignal>
#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "schedules/wisdom/wisdom_file.h"
#include "strew/runtime.h"
#include "strew/text.h"
#include "tune/isolated.h"
#include "tune/tuning_tasks.h"

namespace strew {
namespace {

using testing::HasSubstr;

TuningTask task_of(const std::string& text, const KnownUsage& known = {}) {
  VerifiedOp op = std::move(VerifiedOp::of(std::move(*parse_op(text)))).value();
  Expected<InventedUsage> usage = invent_usage(op, known);
  EXPECT_TRUE(usage.ok()) << usage.status().message();
  return {"add", std::move(op), std::move(usage->usage), {}};
}

std::string add(const std::string& more = "") {
  return "strew1.scatter(operand=f32[4096,16] indices=i32[512] updates=f32[512,16] update_window_dims=[1] "
         "inserted_window_dims=[0] "
         "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add oob=error init=in_place" +
         more + ")";
}

class TunerTest : public testing::Test {
 protected:
  TunerTest() { std::filesystem::remove(settings_.wisdom_file); }
  TunerSettings settings_ = [] {
    TunerSettings settings;
    settings.budget_seconds = 1.5;
    settings.wisdom_file = testing::TempDir() + "/tuner_wisdom.jsonl";
    return settings;
  }();
};

TEST_F(TunerTest, MeasuresCandidatesAndKeepsThem) {
  const Expected<TuningResult> result = tune({task_of(add())}, settings_);
  ASSERT_TRUE(result.ok()) << result.status().message();
  const TunedOp& op = result->ops[0];
  ASSERT_TRUE(op.failure.empty()) << op.failure;
  EXPECT_TRUE(op.candidates[0].is_measured);
  EXPECT_GT(op.candidates.size(), 1U);
  for (const TunedCandidate& each : op.candidates) EXPECT_THAT(each.remark, testing::Not(HasSubstr("wrong result")));
  const Expected<WisdomLines> kept = read_wisdom(settings_.wisdom_file);
  ASSERT_TRUE(kept.ok());
  EXPECT_TRUE(kept->problems.empty());
  EXPECT_GE(kept->records.size(), 2U);
  // A second run goes on where the first one stopped.
  const size_t before = latest(kept->records).size();
  ASSERT_TRUE(tune({task_of(add())}, settings_).ok());
  EXPECT_GT(latest(read_wisdom(settings_.wisdom_file)->records).size(), before);
}

TEST_F(TunerTest, RelaxedSumsAndWideOnesAreTuned) {
  for (const std::string more : {" order=relaxed", " accumulate=wide_f64"}) {
    const Expected<TuningResult> result = tune({task_of(add(more))}, settings_);
    ASSERT_TRUE(result.ok() && result->ops[0].failure.empty()) << more << result->ops[0].failure;
    for (const TunedCandidate& each : result->ops[0].candidates)
      EXPECT_THAT(each.remark, testing::Not(HasSubstr("wrong result"))) << more << print(each.schedule);
  }
}

TEST_F(TunerTest, OpsShareTheBudget) {
  TunerSettings settings = settings_;
  settings.budget_seconds = 3;
  const Expected<TuningResult> result = tune({task_of(add()), task_of(add(" order=relaxed"))}, settings);
  ASSERT_TRUE(result.ok());
  for (const TunedOp& op : result->ops) EXPECT_TRUE(op.failure.empty() && op.candidates[0].is_measured) << op.failure;
}

TEST_F(TunerTest, AnOpThatTakesTooMuchMemoryIsNamedAndTheOthersAreTuned) {
  const std::string large =
      "strew1.gather(operand=f32[4000000000,16] indices=i32[512] result=f32[512,16] offset_dims=[1] collapsed_slice_dims=[0] "
      "start_index_map=[0] index_vector_dim=1 slice_sizes=[1,16])";
  const Expected<TuningResult> result = tune({task_of(large), task_of(add())}, settings_);
  ASSERT_TRUE(result.ok());
  EXPECT_THAT(result->ops[0].failure, HasSubstr("workload: its tensors take 256000"));
  EXPECT_TRUE(result->ops[1].failure.empty());
}

TEST_F(TunerTest, StopsWhenItIsTold) {
  settings_.budget_seconds = 60;
  int waves = 0;
  settings_.on_progress = [&](const TuningProgress&) { ++waves; };
  settings_.stop = [&] { return waves > 0; };
  const Expected<TuningResult> result = tune({task_of(add())}, settings_);
  ASSERT_TRUE(result.ok());
  EXPECT_LT(result->seconds, 30);
  EXPECT_TRUE(result->ops[0].is_stopped);
  EXPECT_FALSE(read_wisdom(settings_.wisdom_file)->records.empty());
}

TEST_F(TunerTest, ABudgetThatIsTooSmallIsSaid) {
  settings_.budget_seconds = 1e-6;
  const Expected<TuningResult> result = tune({task_of(add())}, settings_);
  ASSERT_TRUE(result.ok());
  EXPECT_THAT(result->ops[0].failure, HasSubstr("ended before anything was measured"));
  EXPECT_TRUE(result->ops[0].candidates.empty());
}

TEST_F(TunerTest, BadSettingsAreRefused) {
  settings_.budget_seconds = -1;
  EXPECT_THAT(tune({}, settings_).status().message(), HasSubstr("budget: it is -1 s, expected more than 0"));
  settings_.budget_seconds = 1;
  settings_.max_bytes = -5;
  EXPECT_THAT(tune({}, settings_).status().message(), HasSubstr("max_bytes: it is -5"));
  settings_.max_bytes = 0;
  settings_.timings_file = "/no/such/folder/timings";
  EXPECT_THAT(tune({}, settings_).status().message(), HasSubstr("/no/such/folder/timings: cannot write"));
}

TEST_F(TunerTest, WisdomThatCannotBeKeptIsAProblemNotAnError) {
  settings_.wisdom_file = "/proc/no/such/wisdom";
  const Expected<TuningResult> result = tune({task_of(add())}, settings_);
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->problems.size(), 1U);
  EXPECT_THAT(result->problems[0], HasSubstr("/proc/no/such/wisdom: cannot append"));
}

TEST_F(TunerTest, KernelsInAChildGiveTheSameResult) {
  settings_.isolate = true;
  settings_.budget_seconds = 2;
  const Expected<TuningResult> result = tune({task_of(add())}, settings_);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->ops[0].failure.empty()) << result->ops[0].failure;
  EXPECT_TRUE(result->ops[0].candidates[0].is_measured);
}

TEST(Isolated, TheChildsStatusComesBack) {
  EXPECT_TRUE(run_isolated([] { return Status(); }, 30).ok());
  const Status refused = run_isolated([] { return unsupported("because"); }, 30);
  EXPECT_EQ(refused.code(), Code::unsupported);
  EXPECT_EQ(refused.message(), "because");
}

TEST(Isolated, ACrashEndsTheChildAlone) {
  EXPECT_THAT(run_isolated(
                  []() -> Status {
                    std::raise(SIGKILL);
                    return {};
                  },
                  30)
                  .message(),
              HasSubstr("crashed: Killed"));
  EXPECT_THAT(run_isolated(
                  []() -> Status {
                    for (;;) pause();
                  },
                  0.2)
                  .message(),
              HasSubstr("did not end within"));
}

}  // namespace
}  // namespace strew
