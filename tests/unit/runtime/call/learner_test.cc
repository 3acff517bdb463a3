// Kernels that learn: what a Lesson concludes from times that the test makes up, what it costs, and that real kernels learn only where they
// may, with the bits of kernels that do not.
#include "runtime/call/learner.h"

#include <cmath>
#include <functional>
#include <random>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "strew/runtime.h"
#include "strew/text.h"
#include "strew/wisdom.h"

namespace strew {
namespace {

constexpr CallWay kPlain{-1, false}, kStreams{-1, true}, kOwner{STREW_STRATEGY_owner, false};

Lesson::Ways ways(std::initializer_list<CallWay> list) {
  Lesson::Ways out;
  for (const CallWay& way : list) out.list[out.count++] = way;
  return out;
}

/// Makes `calls` calls of which each takes as long as `time` says, and returns what they took.
double call(Lesson& lesson, int calls, const std::function<double(CallWay)>& time) {
  double total = 0;
  for (int i = 0; i < calls; ++i) {
    const CallWay way = lesson.way();
    const double nanoseconds = time(way);
    total += nanoseconds;
    Learner::count_call();
    if (lesson.is_due()) lesson.add(way, nanoseconds, 1000);
  }
  return total;
}

double noisy(double nanoseconds, std::mt19937& random) {
  return nanoseconds * std::lognormal_distribution<double>(0, 0.05)(random);
}

TEST(Lesson, FindsTheFastestWayAndKeepsIt) {
  LearningCounts counts;
  std::mt19937 random(1);
  Lesson lesson(ways({kPlain, kStreams, kOwner}), 16, &counts);
  ASSERT_TRUE(lesson.has_choice());
  EXPECT_EQ(lesson.way(), kPlain);
  const auto time = [&](CallWay way) { return noisy(way == kOwner ? 14e3 : way == kStreams ? 8e3 : 10e3, random); };
  for (int i = 0; i < 1000 && !lesson.has_settled(); ++i) call(lesson, 1000, time);
  ASSERT_TRUE(lesson.has_settled());
  EXPECT_EQ(lesson.way(), kStreams);
  EXPECT_EQ(counts.changes.load(), 1U);
  EXPECT_GE(counts.trials.load(), 20U);
}

TEST(Lesson, TrialsOfSlowerWaysCostLessThanTheRegret) {
  LearningCounts counts;
  std::mt19937 random(2);
  Lesson lesson(ways({kPlain, kStreams, kOwner}), 64, &counts);
  double spent = 0, total = 0;
  const auto time = [&](CallWay way) {
    const double nanoseconds = noisy(5e3, random), slower = way == kPlain ? 0 : 0.9 * nanoseconds;
    spent += slower;
    return nanoseconds + slower;
  };
  for (int i = 0; i < 3000; ++i) {
    total += call(lesson, 100, time);
    // The estimate of the first trials is that a way takes twice as long; a block is as long as it is.
    ASSERT_LE(spent, 1.2 * kRegret * total + 2 * 64 * 5e3) << "after " << i;
  }
  EXPECT_EQ(lesson.way(), kPlain);
  EXPECT_EQ(counts.changes.load(), 0U);
  EXPECT_NEAR(counts.total_ns.load() / total, 1, 0.05);
  EXPECT_NEAR(counts.regret_ns.load(), spent, 0.3 * spent + 1e5);
}

TEST(Lesson, KeepsTheFirstOfWaysThatAreAsFast) {
  LearningCounts counts;
  std::mt19937 random(3);
  Lesson lesson(ways({kPlain, kStreams}), 8, &counts);
  for (int i = 0; i < 2000 && !lesson.has_settled(); ++i) call(lesson, 1000, [&](CallWay) { return noisy(20e3, random); });
  EXPECT_TRUE(lesson.has_settled());
  EXPECT_EQ(lesson.way(), kPlain);
  EXPECT_EQ(counts.changes.load(), 0U);
}

TEST(Lesson, TriesAgainWhenItHasRested) {
  LearningCounts counts;
  std::mt19937 random(4);
  bool is_cold = false;
  Lesson lesson(ways({kPlain, kStreams}), 8, &counts);
  const auto time = [&](CallWay way) { return noisy(way == (is_cold ? kPlain : kStreams) ? 15e3 : 10e3, random); };
  for (int i = 0; i < 1000 && !lesson.has_settled(); ++i) call(lesson, 1000, time);
  ASSERT_EQ(lesson.way(), kPlain);
  is_cold = true;
  for (int i = 0; i < 10'000 && counts.changes.load() == 0; ++i) call(lesson, 1000, time);
  EXPECT_EQ(lesson.way(), kStreams);
}

TEST(Lesson, LearnsOtherCallsAtOnce) {
  LearningCounts counts;
  std::mt19937 random(5);
  bool is_cold = false;
  Lesson lesson(ways({kPlain, kStreams}), 8, &counts);
  const auto time = [&](CallWay way) {
    return noisy(is_cold ? (way == kPlain ? 16e3 : 8e3) : (way == kPlain ? 8e3 : 12e3), random);
  };
  int searched = 0, again = 0;
  for (; searched < 100'000 && !lesson.has_settled(); ++searched) call(lesson, 100, time);
  ASSERT_EQ(lesson.way(), kPlain);
  call(lesson, 10'000, time);  // the search is over, and what it found is known
  is_cold = true;
  for (; again < 100'000 && counts.changes.load() == 0; ++again) call(lesson, 100, time);
  EXPECT_EQ(lesson.way(), kStreams);
  EXPECT_LT(again, 3 * searched) << "it rested for eight times the time of the search";
}

TEST(Lesson, TellsWhatASearchFoundAndThatItIsSoNoMore) {
  LearningCounts counts;
  std::mt19937 random(6);
  bool is_cold = true;
  std::vector<LessonOutcome> told;
  const KeepLesson keep = [&](const LessonOutcome& outcome) { told.push_back(outcome); };
  Lesson lesson(ways({kPlain, kStreams, kOwner}), 8, &counts, &keep, 4);
  const auto time = [&](CallWay way) {
    return noisy(way == kOwner ? 19e3 : way == (is_cold ? kPlain : kStreams) ? 20e3 : 10e3, random);
  };
  for (int i = 0; i < 10'000 && !lesson.has_settled(); ++i) call(lesson, 1000, time);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].first, kPlain);
  EXPECT_EQ(told[0].other, kStreams);
  EXPECT_EQ(told[0].threads, 4);
  EXPECT_EQ(told[0].trials, static_cast<int>(counts.trials.load()));
  EXPECT_NEAR(told[0].ratio.median, 0.5, 0.1);
  EXPECT_LE(told[0].ratio.low, told[0].ratio.median);
  EXPECT_LE(told[0].ratio.median, told[0].ratio.high);
  EXPECT_LT(told[0].ratio.high, 0.7);

  is_cold = false;
  for (int i = 0; i < 10'000 && told.size() == 1; ++i) call(lesson, 1000, time);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(lesson.way(), kPlain);
  EXPECT_EQ(told[1].first, kPlain);
  EXPECT_EQ(told[1].other, kStreams);
  EXPECT_NEAR(told[1].ratio.median, 2, 0.4);
  EXPECT_LE(told[1].ratio.low, told[1].ratio.median);
  EXPECT_LE(told[1].ratio.median, told[1].ratio.high);
  EXPECT_GT(told[1].ratio.low, 1.4);

  is_cold = true;  // the ratio is one to the first way again, not to the ways in between
  for (int i = 0; i < 10'000 && told.size() == 2; ++i) call(lesson, 1000, time);
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(told[2].other, kStreams);
  EXPECT_NEAR(told[2].ratio.median, 0.5, 0.1);
}

TEST(Lesson, SaysNothingOfASearchThatKeepsTheFirstWay) {
  LearningCounts counts;
  std::mt19937 random(7);
  int told = 0;
  const KeepLesson keep = [&](const LessonOutcome&) { ++told; };
  Lesson lesson(ways({kPlain, kStreams}), 8, &counts, &keep);
  for (int i = 0; i < 10'000 && !lesson.has_settled(); ++i)
    call(lesson, 1000, [&](CallWay way) { return noisy(way == kPlain ? 10e3 : 14e3, random); });
  EXPECT_TRUE(lesson.has_settled());
  EXPECT_EQ(told, 0);
}

TEST(Lesson, OneWayIsNoChoice) {
  LearningCounts counts;
  const Lesson lesson(ways({kStreams}), 8, &counts);
  EXPECT_FALSE(lesson.has_choice());
  EXPECT_EQ(lesson.way(), kStreams);
}

/// Writes rows of 256 bytes into a table of 4 MiB, 512 at a time: what is written may lie in a cache or not.
constexpr const char* kRows =
    "strew1.scatter(operand=f32[16384,64] indices=i32[512] updates=f32[512,64] update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 init=in_place oob=skip_window unique_indices=true)";

struct Table {
  std::vector<float> table = std::vector<float>(16384 * 64), updates = std::vector<float>(512 * 64);
  std::vector<int32_t> indices = std::vector<int32_t>(512);
  const std::vector<int64_t> table_dims{16384, 64}, update_dims{512, 64}, index_dims{512};
  explicit Table(int seed) {
    for (size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<int32_t>(i * 31 + static_cast<size_t>(seed));
    for (size_t i = 0; i < updates.size(); ++i) updates[i] = static_cast<float>(i) + static_cast<float>(seed);
  }
  std::vector<TensorView> views() {
    return {{table.data(), table_dims}, {indices.data(), index_dims}, {updates.data(), update_dims}};
  }
  bool is_right() const {
    for (size_t i = 0; i < indices.size(); ++i)
      if (!std::equal(updates.begin() + static_cast<std::ptrdiff_t>(i * 64),
                      updates.begin() + static_cast<std::ptrdiff_t>(i * 64 + 64), table.begin() + indices[i] * 64))
        return false;
    return true;
  }
};

Runtime::Stats stats_after_calls(const Options& options, const KernelOptions& kernel_options, int threads) {
  Runtime runtime(options);
  const Expected<Kernel> kernel = runtime.get(*parse_op(kRows), kernel_options);
  EXPECT_TRUE(kernel.ok()) << kernel.status().message();
  if (!kernel.ok()) return {};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      for (int round = 0; round < 20; ++round) {
        Table table(round + t);
        const std::vector<TensorView> views = table.views();
        for (int i = 0; i < 200; ++i) ASSERT_TRUE(kernel->run(views).ok());
        ASSERT_TRUE(table.is_right()) << "round " << round;
      }
    });
  for (std::thread& thread : all) thread.join();
  return runtime.stats();
}

Options options_with(bool learn) {
  Options options;
  options.learn = learn;
  return options;
}

KernelOptions with_schedule(const char* text) {
  KernelOptions options;
  options.wisdom = Wisdom::none();
  options.schedule = parse_schedule_text(text)->knobs;
  return options;
}

TEST(Learner, KernelsLearnWhileTheyServe) {
  for (const int threads : {1, 3}) {
    const Runtime::Stats stats = stats_after_calls(options_with(true), with_schedule(""), threads);
    EXPECT_GT(stats.learn_nanoseconds, 0U) << threads;
    EXPECT_LE(stats.learn_regret_nanoseconds, stats.learn_nanoseconds / 10)
        << threads;  // of few calls, on a machine that may be busy
  }
}

/// Calls of 8 KiB: one thread makes them without phases, and they run as their lesson says without going through the learner, but for those
/// that are timed.
TEST(Learner, SmallCallsLearn) {
  Runtime runtime(options_with(true));
  const Expected<Kernel> kernel = runtime.get(
      *parse_op("strew1.scatter(operand=bf16[4,8,1024,128] indices=i64[4] updates=bf16[4,8,1,128] update_window_dims=[1,2,3] "
                "input_batching_dims=[0] scatter_indices_batching_dims=[0] scatter_dims_to_operand_dims=[2] index_vector_dim=1 "
                "init=in_place oob=error)"),
      with_schedule(""));
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  const std::vector<int64_t> cache_dims{4, 8, 1024, 128}, index_dims{4}, token_dims{4, 8, 1, 128};
  std::vector<uint16_t> cache(4 * 8 * 1024 * 128), token(4 * 8 * 128);
  std::vector<int64_t> at(4);
  for (int i = 0; i < 20'000; ++i) {
    for (size_t s = 0; s < at.size(); ++s) at[s] = (i * 7 + static_cast<int64_t>(s) * 100) % 1024;
    std::fill(token.begin(), token.end(), static_cast<uint16_t>(i));
    ASSERT_TRUE(kernel
                    ->run(std::vector<TensorView>{{cache.data(), DType::bf16, 4, cache_dims.data()},
                                                  {at.data(), DType::i64, 1, index_dims.data()},
                                                  {token.data(), DType::bf16, 4, token_dims.data()}})
                    .ok());
    for (size_t s = 0; s < at.size(); ++s) {
      const size_t row = ((s * 8 + 7) * 1024 + static_cast<size_t>(at[s])) * 128;
      ASSERT_EQ(cache[row], static_cast<uint16_t>(i)) << "call " << i;
      ASSERT_EQ(cache[row + 127], static_cast<uint16_t>(i)) << "call " << i;
    }
  }
  EXPECT_GT(runtime.stats().learn_nanoseconds, 0U);
}

TEST(Learner, StaysOffWhereItIsTold) {
  EXPECT_EQ(stats_after_calls(options_with(false), with_schedule(""), 1).learn_nanoseconds, 0U);
  for (const char* schedule : {"strategy=sequential", "nontemporal=true", "nontemporal=false", "adapts=false", "checked=true"})
    EXPECT_EQ(stats_after_calls(options_with(true), with_schedule(schedule), 1).learn_nanoseconds, 0U) << schedule;
}

}  // namespace
}  // namespace strew
