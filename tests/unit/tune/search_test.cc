// The search and the tuner on times that are made up: what they decide follows from the times alone.
#include "tune/search.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "backends/pipeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "strew/text.h"
#include "strew/wisdom.h"
#include "tune/random.h"
#include "tune/recorded_stopwatch.h"
#include "tune/tuner.h"

namespace strew {
namespace {

using testing::HasSubstr;

const char* const kAdd =
    "strew1.scatter(operand=f32[65536,16] indices=i32[4096] updates=f32[4096,16] update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add oob=error init=in_place)";

VerifiedOp add_op() { return std::move(VerifiedOp::of(std::move(*parse_op(kAdd)))).value(); }

Compiled planned_op() {
  KernelOptions options;
  options.threads = 2;
  options.target = *parse_target("x86-64-v3");
  return std::move(*plan_kernel(add_op(), options));
}

/// Tells times by a function of the variant, with noise, and counts what it is asked.
class MadeUpStopwatch final : public Stopwatch {
 public:
  std::function<double(const Variant&)> time = [](const Variant&) { return 1000.0; };
  std::function<Status(const Variant&)> can_prepare = [](const Variant&) { return Status(); };
  std::function<void()> on_relocate = [] {};
  double noise = 0.02, seconds_per_sample = 1e-3, now = 0;
  double waiting = 0;  ///< the part of the time for which threads waited for cores
  int samples = 0, prepared = 0, relocated = 0;

  Status prepare(const Variant& variant) override {
    ++prepared;
    now += 0.01;
    return can_prepare(variant);
  }
  double sample(const Variant& variant) override {
    ++samples;
    now += seconds_per_sample;
    return time(variant) * (1 + noise * (2 * random_.unit() - 1));
  }
  Status relocate() override {
    ++relocated;
    on_relocate();
    return {};
  }
  void drop(const Variant&) override {}
  double seconds() override { return now; }
  double waited_seconds() override { return waiting * now; }
  CallFacts facts() override { return {}; }

 private:
  Random random_{42};
};

void run(Search& search, MadeUpStopwatch& watch, double deadline = 1e9) {
  while (!search.is_done() && watch.now < deadline) ASSERT_TRUE(search.wave(watch, deadline).ok());
  ASSERT_TRUE(search.confirm(watch, deadline + 10).ok());
}

class SearchTest : public testing::Test {
 protected:
  const Compiled planned_ = planned_op();
  const SearchSpace space_ = std::move(*SearchSpace::of(planned_, planned_));
  MadeUpStopwatch watch_;
};

TEST_F(SearchTest, TheSpaceBeginsWithTheDefaultAndHasOnlyLegalVariants) {
  EXPECT_EQ(space_.standard().schedule, planned_.schedule);
  EXPECT_GT(space_.listed().size(), 20U);
  for (const ListedVariant& each : space_.listed()) {
    EXPECT_TRUE(check_schedule(each.variant.schedule, planned_.plan, planned_.target).ok()) << print(each.variant);
    EXPECT_NE(each.variant.schedule.strategy, Strategy::positions) << "two positions may write one destination";
  }
  for (const Variant& each : space_.neighbours(space_.standard())) {
    EXPECT_NE(each, space_.standard());
    EXPECT_TRUE(check_schedule(each.schedule, planned_.plan, planned_.target).ok()) << print(each);
  }
}

TEST_F(SearchTest, NothingWinsWhereNothingIsFaster) {
  watch_.time = [&](const Variant& v) { return v == space_.standard() ? 1000.0 : 1500.0; };
  Search search(space_, {});
  run(search, watch_);
  EXPECT_EQ(search.winner_at(), 0U);
  EXPECT_TRUE(search.is_done());
  EXPECT_TRUE(search.candidates()[0].is_confirmed);  // that the default stands was measured, too
}

TEST_F(SearchTest, ABudgetThatEndsBeforeTheConfirmationLeavesItUndecided) {
  watch_.time = [&](const Variant& v) { return v == space_.standard() ? 1000.0 : 500.0; };
  Search search(space_, {});
  ASSERT_TRUE(search.wave(watch_, 1e9).ok());
  ASSERT_NE(search.best_at(), 0U);
  const int rounds = search.candidates()[0].rounds;
  ASSERT_TRUE(search.confirm(watch_, watch_.seconds()).ok());
  EXPECT_EQ(search.winner_at(), 0U);
  EXPECT_EQ(search.undecided_after(), 0);
  EXPECT_FALSE(search.candidates()[search.best_at()].is_confirmed);
  // The default's own time is known well enough, so its record decides for requests like this one.
  EXPECT_EQ(search.candidates()[0].is_confirmed, rounds >= 17);
  EXPECT_EQ(search.last_measured(), rounds >= 17 ? std::vector<size_t>{0} : std::vector<size_t>{});
  ASSERT_TRUE(search.confirm(watch_, 1e9).ok());
  EXPECT_EQ(search.undecided_after(), std::nullopt);
  EXPECT_NE(search.winner_at(), 0U);
}

// confirm() moves the data twice; what is measured after a third move is a winner's second look.
constexpr int kMovesOfConfirmation = 2;

TEST_F(SearchTest, AWinnerThatLosesItsSecondLookIsNotKept) {
  watch_.time = [&](const Variant& v) {
    const bool is_other = v.schedule.vector_bytes != space_.standard().schedule.vector_bytes;
    return !is_other ? 1000.0 : watch_.relocated <= kMovesOfConfirmation ? 500.0 : 1100.0;
  };
  Search search(space_, {SearchMode::exhaustive, 1, [] { return false; }});
  run(search, watch_);
  EXPECT_EQ(search.winner_at(), 0U);
  EXPECT_EQ(search.undecided_after(), std::nullopt);
  EXPECT_TRUE(search.candidates()[0].is_confirmed);
  int losers = 0;
  for (const TunedCandidate& each : search.candidates()) {
    if (!each.lost_second_look) continue;
    ++losers;
    EXPECT_GT(each.ratio_high, 1) << "its numbers, which are kept, are of the second look";
    EXPECT_FALSE(each.is_confirmed) << "a record of it would decide";
  }
  EXPECT_EQ(losers, watch_.relocated - kMovesOfConfirmation);
  EXPECT_GE(losers, 1);
}

TEST_F(SearchTest, TheNextOneIsLookedAtWhereTheFastestLoses) {
  std::string fastest;  // of the confirmation: the first variant that is measured after the third move beside the default
  watch_.time = [&](const Variant& v) {
    if (v == space_.standard()) return 1000.0;
    if (watch_.relocated == kMovesOfConfirmation + 1 && fastest.empty()) fastest = print(v);
    return print(v) == fastest ? 1200.0 : 500.0;
  };
  Search search(space_, {});
  run(search, watch_);
  ASSERT_NE(search.winner_at(), 0U);
  EXPECT_EQ(watch_.relocated, kMovesOfConfirmation + 2);
  const TunedCandidate& winner = search.candidates()[search.winner_at()];
  EXPECT_TRUE(winner.is_confirmed);
  EXPECT_FALSE(winner.lost_second_look);
  EXPECT_NE(print(Variant{winner.backend, winner.schedule}), fastest);
}

TEST_F(SearchTest, ASecondLookThatDoesNotFitLeavesItUndecided) {
  watch_.time = [&](const Variant& v) { return v == space_.standard() ? 1000.0 : 500.0; };
  watch_.on_relocate = [&] {
    if (watch_.relocated > kMovesOfConfirmation) watch_.now = 1e10;
  };
  Search search(space_, {});
  run(search, watch_);
  EXPECT_EQ(search.winner_at(), 0U);
  EXPECT_EQ(search.undecided_after(), 0);
  for (size_t i = 1; i < search.candidates().size(); ++i) EXPECT_FALSE(search.candidates()[i].is_confirmed);
}

TEST_F(SearchTest, WhatWasMeasuredBesideOtherWorkIsMarked) {
  for (const double waiting : {0.0, 0.01, 0.2}) {
    MadeUpStopwatch watch;
    watch.time = [&](const Variant& v) { return v == space_.standard() ? 1000.0 : 500.0; };
    watch.waiting = waiting;
    Search search(space_, {});
    run(search, watch);
    ASSERT_NE(search.winner_at(), 0U);
    for (const TunedCandidate& each : search.candidates())
      EXPECT_EQ(each.is_busy, each.is_measured && waiting > 0.1) << waiting << " " << print(each.schedule);
  }
}

TEST_F(SearchTest, FindsAValueThatNoListHas) {
  // 48 rows ahead is no candidate of the cost model, but a neighbour of those that are.
  watch_.time = [](const Variant& v) {
    return 1000 + 10 * std::abs(v.schedule.prefetch - 48) + (v.schedule.unroll == 8 ? 0 : 50);
  };
  Search search(space_, {});
  run(search, watch_);
  ASSERT_NE(search.winner_at(), 0U);
  const TunedCandidate& winner = search.candidates()[search.winner_at()];
  EXPECT_EQ(winner.schedule.prefetch, 48);
  EXPECT_EQ(winner.schedule.unroll, 8);
  EXPECT_LT(winner.ratio_high, 1);
  EXPECT_TRUE(winner.is_confirmed);
}

TEST_F(SearchTest, AGainWithinNoiseKeepsTheDefault) {
  watch_.noise = 0.3;
  watch_.time = [&](const Variant& v) { return v == space_.standard() ? 1000.0 : 990.0; };
  Search search(space_, {});
  run(search, watch_);
  EXPECT_EQ(search.winner_at(), 0U);
}

TEST_F(SearchTest, ExhaustiveMeasuresEveryListedVariant) {
  Search search(space_, {SearchMode::exhaustive, 1, [] { return false; }});
  run(search, watch_);
  EXPECT_EQ(search.candidates().size(), space_.listed().size());
  for (const TunedCandidate& each : search.candidates()) EXPECT_TRUE(each.is_measured) << print(each.schedule);
}

TEST_F(SearchTest, EstimateMeasuresNothing) {
  Search search(space_, {SearchMode::estimate, 1, [] { return false; }});
  EXPECT_TRUE(search.is_done());
  EXPECT_EQ(search.candidates().size(), space_.listed().size());
  ASSERT_TRUE(search.confirm(watch_, 10).ok());
  EXPECT_EQ(watch_.samples, 0);
  EXPECT_EQ(search.winner_at(), 0U);
}

TEST_F(SearchTest, TheSeedDecides) {
  watch_.time = [](const Variant& v) { return 1000.0 + v.schedule.prefetch; };
  const auto order = [&](uint64_t seed) {
    MadeUpStopwatch watch;
    watch.time = watch_.time;
    Search search(space_, {SearchMode::measure, seed, [] { return false; }});
    run(search, watch);
    std::string out;
    for (const TunedCandidate& each : search.candidates()) out += print(each.schedule) + "\n";
    return out;
  };
  EXPECT_EQ(order(3), order(3));
  EXPECT_NE(order(3), order(4));
}

TEST_F(SearchTest, CandidatesThatFailAreNamedAndLeftOut) {
  const Strategy bad =
      planned_.schedule.strategy == Strategy::sequential ? Strategy::window : Strategy::sequential;  // not the default's
  watch_.can_prepare = [&](const Variant& v) {
    return v.schedule.strategy == bad ? internal_error("wrong result: byte 7") : Status();
  };
  Search search(space_, {});
  run(search, watch_);
  bool failed = false;
  for (const TunedCandidate& each : search.candidates()) {
    if (each.schedule.strategy != bad) continue;
    failed = true;
    EXPECT_FALSE(each.is_measured);
    EXPECT_THAT(each.remark, HasSubstr("wrong result: byte 7"));
  }
  EXPECT_TRUE(failed);
}

TEST_F(SearchTest, ADefaultThatFailsIsAnError) {
  watch_.can_prepare = [&](const Variant& v) { return v == space_.standard() ? unsupported("no memory") : Status(); };
  Search search(space_, {});
  EXPECT_THAT(search.wave(watch_, 10).message(), HasSubstr("the default schedule: no memory"));
}

TEST_F(SearchTest, KeepsTheDeadline) {
  watch_.seconds_per_sample = 0.05;
  Search search(space_, {});
  while (!search.is_done() && watch_.now < 1) ASSERT_TRUE(search.wave(watch_, 1).ok());
  EXPECT_LT(watch_.now, 1.2);
}

TEST_F(SearchTest, WhatIsKnownIsNotMeasuredAgain) {
  watch_.time = [&](const Variant& v) {
    return v.schedule.vector_bytes != space_.standard().schedule.vector_bytes ? 500.0 : 1000.0;
  };
  Search first(space_, {SearchMode::exhaustive, 1, [] { return false; }});
  run(first, watch_);
  std::vector<TunedCandidate> known(first.candidates().begin() + 1, first.candidates().end());
  MadeUpStopwatch again;
  again.time = watch_.time;
  Search second(space_, {SearchMode::exhaustive, 1, [] { return false; }}, known);
  run(second, again);
  EXPECT_LT(again.prepared, 10);
  EXPECT_NE(second.winner_at(), 0U);
}

class ReplayTest : public testing::Test {
 protected:
  /// Writes timings by hand: the default takes 1000 ns, a variant with other vectors 800.
  void write_timings(const std::string& more = "") {
    const Compiled planned = [] {
      KernelOptions options;
      options.threads = 2;
      options.wisdom = Wisdom::none();
      return std::move(*plan_kernel(add_op(), options));
    }();
    const SearchSpace space = std::move(*SearchSpace::of(planned, planned));
    std::ofstream out(path_);
    out << R"({"format":1,"mode":"exhaustive","seed":1,"budget_seconds":0})"
        << "\n";
    out << R"({"number":0,"name":"add","op":")" << kAdd
        << R"(","dims":{},"indices":"uniform","temperature":"hot","threads":2,"calls":1})"
        << "\n";
    out << R"({"number":0,"data_bytes":1000,"bytes_moved":500,"memcpy_ns":77})"
        << "\n"
        << more;
    for (const ListedVariant& each : space.listed()) {
      const double time = each.variant.schedule.vector_bytes != space.standard().schedule.vector_bytes ? 800 : 1000;
      out << R"({"number":0,"variant":")" << print(each.variant) << R"(","failure":"","seconds":0.01})"
          << "\n";
      for (const double noise : {0.99, 1.0, 1.01})
        out << R"({"number":0,"variant":")" << print(each.variant) << R"(","nanoseconds":)" << time * noise
            << R"(,"seconds":0.001})"
            << "\n";
    }
  }
  const std::string path_ = testing::TempDir() + "/timings.jsonl";
};

TEST_F(ReplayTest, DecidesByTheRecordedTimes) {
  write_timings();
  const Expected<RecordedRun> run = read_timings(path_);
  ASSERT_TRUE(run.ok()) << run.status().message();
  EXPECT_TRUE(run->problems.empty());
  const Expected<TuningResult> result = replay(*run), again = replay(*run);
  ASSERT_TRUE(result.ok()) << result.status().message();
  ASSERT_EQ(result->ops.size(), 1U);
  const TunedOp& op = result->ops[0];
  ASSERT_TRUE(op.failure.empty()) << op.failure;
  ASSERT_NE(op.winner_at, op.default_at);
  EXPECT_NE(op.candidates[op.winner_at].schedule.vector_bytes, op.candidates[op.default_at].schedule.vector_bytes);
  EXPECT_NEAR(op.candidates[op.winner_at].ratio, 0.8, 0.03);
  EXPECT_EQ(op.memcpy_ns, 77);
  EXPECT_EQ(again->ops[0].winner_at, op.winner_at);
  EXPECT_EQ(again->ops[0].candidates[op.winner_at].ratio, op.candidates[op.winner_at].ratio);
}

TEST_F(ReplayTest, BadLinesAreLeftOutAndNamed) {
  write_timings(
      "nonsense\n{\"number\":9,\"variant\":\"x\",\"seconds\":1}\n{\"number\":0,\"variant\":\"x\",\"nanoseconds\":-1,\"seconds\":"
      "1}\n");
  const Expected<RecordedRun> run = read_timings(path_);
  ASSERT_TRUE(run.ok());
  ASSERT_EQ(run->problems.size(), 3U);
  EXPECT_THAT(run->problems[0], HasSubstr("line 4: it is no JSON object"));
  EXPECT_THAT(run->problems[1], HasSubstr("number is 9, expected less than 1"));
  EXPECT_THAT(run->problems[2], HasSubstr("nanoseconds is -1"));
  EXPECT_TRUE(replay(*run).ok());
}

TEST_F(ReplayTest, FilesWithoutTimingsAreRefused) {
  EXPECT_THAT(read_timings("/no/such/file").status().message(), HasSubstr("/no/such/file: cannot be read"));
  std::ofstream(path_) << "{}\n";
  EXPECT_THAT(read_timings(path_).status().message(), HasSubstr("it has no timings of an op"));
}

}  // namespace
}  // namespace strew
