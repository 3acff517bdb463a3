// Wisdom: records, files, the four steps of a look-up, and that requests take what was measured.
#include "strew/wisdom.h"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "backends/pipeline.h"
#include "base/machine.h"
#include "base/machine_costs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "schedules/wisdom/learned.h"
#include "schedules/wisdom/wisdom_file.h"
#include "strew/runtime.h"
#include "strew/text.h"

namespace strew {
namespace {

using testing::HasSubstr;

VerifiedOp add_op(int64_t rows, const std::string& more = "") {
  const std::string text =
      "strew1.scatter(operand=f32[" + std::to_string(rows) + ",16] indices=i32[4096] updates=f32[4096,16] " +
      "update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 " +
      "combiner=add oob=error init=in_place" + more + ")";
  return std::move(VerifiedOp::of(std::move(*parse_op(text)))).value();
}

Compiled planned(const VerifiedOp& op, std::shared_ptr<const Wisdom> wisdom = Wisdom::none(), const char* target = "native") {
  KernelOptions options;
  options.threads = 2;
  options.wisdom = std::move(wisdom);
  options.target = *parse_target(target);
  return std::move(*plan_kernel(op, options));
}

/// A record of the op on this machine, of the default or of the default with other knobs.
WisdomRecord record_of(const VerifiedOp& op, const std::string& knobs, double ratio) {
  const Compiled made = planned(op);
  WisdomRecord r;
  r.family = family_of(made.identity);
  r.op = made.identity_text;
  r.shape = shape_features(made.plan);
  r.indices = "uniform";
  r.temperature = "hot";
  r.threads = 2;
  r.backend = "llvm";
  r.schedule = print(*parse_schedule(knobs, made.schedule));
  r.is_default = knobs.empty();
  r.is_confirmed = true;
  r.nanoseconds = 1000 * ratio;
  r.ratio = ratio;
  r.ratio_low = ratio - 0.01;
  r.ratio_high = ratio + 0.01;
  r.rounds = 39;
  r.machine = machine_key(machine());
  r.features = features_key(made.target);
  r.generator = "strew 0";
  r.date = "2026-11-23T00:00:00Z";
  return r;
}

class WisdomTest : public testing::Test {
 protected:
  WisdomTest() { std::filesystem::remove(path_); }
  std::shared_ptr<const Wisdom> wisdom(const std::vector<WisdomRecord>& records) {
    std::filesystem::remove(path_);
    EXPECT_TRUE(append_wisdom(path_, records).ok());
    Expected<std::shared_ptr<const Wisdom>> loaded = Wisdom::load(path_);
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    return *loaded;
  }
  const std::string path_ = testing::TempDir() + "/wisdom_test.jsonl";
};

constexpr const char* kTuned = "prefetch=24,unroll=8";

TEST_F(WisdomTest, ARecordIsReadAsItIsPrinted) {
  WisdomRecord record = record_of(add_op(65536), kTuned, 0.8);
  record.dims = {{"s0", 5}, {"s1", 77}};
  record.indices = "folder with \"quotes\".npy";
  const std::string line = print(record);
  EXPECT_EQ(family_of_line(line), record.family);
  const Expected<WisdomRecord> read = parse_wisdom_record(std::string_view(line).substr(0, line.size() - 1));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, record);
}

TEST_F(WisdomTest, ARecordOfABusyHostSaysSo) {
  WisdomRecord record = record_of(add_op(65536), kTuned, 0.8);
  EXPECT_THAT(print(record), testing::Not(HasSubstr("busy")));  // as lines were before there was the mark
  record.is_busy = true;
  std::string line = print(record);
  line.pop_back();
  const Expected<WisdomRecord> read = parse_wisdom_record(line);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, record);
  line.replace(line.find("\"busy\":true"), 11, "\"busy\":3");
  EXPECT_THAT(parse_wisdom_record(line).status().message(), HasSubstr("busy is 3, expected true or false"));
}

TEST_F(WisdomTest, BadLinesNameTheMemberAndWhatWasExpected) {
  const std::string good = print(record_of(add_op(65536), kTuned, 0.8));
  const auto refusal = [&](const std::string& from, const std::string& to) {
    std::string line = good;
    const size_t at = line.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    line.replace(at, from.size(), to);
    const Expected<WisdomRecord> read = parse_wisdom_record(line);
    return read.ok() ? std::string("accepted") : read.status().message();
  };
  EXPECT_THAT(refusal("\"format\":1", "\"format\":2"), HasSubstr("format is 2, expected 1"));
  EXPECT_THAT(refusal("\"threads\":2", "\"threads\":0"), HasSubstr("threads is 0, expected a number from 1"));
  EXPECT_THAT(refusal("\"threads\":2", "\"threads\":\"2\""), HasSubstr("threads is \"2\", expected a number"));
  EXPECT_THAT(refusal("\"ratio\":0.8", "\"ratio\":1e999"), HasSubstr("JSON object"));
  EXPECT_THAT(refusal("\"ratio\":0.8", "\"ratio\":-1"), HasSubstr("ratio is -1"));
  EXPECT_THAT(refusal("\"backend\":\"llvm\"", "\"backend\":null"), HasSubstr("backend is null, expected a text"));
  EXPECT_THAT(refusal(",\"date\"", ",\"other\""), HasSubstr("date is missing"));
  EXPECT_THAT(refusal("\"dims\":{}", "\"dims\":[]"), HasSubstr("dims is [], expected an object"));
  EXPECT_THAT(parse_wisdom_record("[[[[[[[[").status().message(), HasSubstr("nested"));
  EXPECT_THAT(parse_wisdom_record(std::string(2 << 20, 'x')).status().message(), HasSubstr("expected at most 1048576"));
  EXPECT_FALSE(parse_wisdom_record(good.substr(0, good.size() / 2)).ok());
}

TEST_F(WisdomTest, SizesOfAnOpAreOneFamily) {
  EXPECT_EQ(family_of(add_op(100)), family_of(add_op(65536)));
  EXPECT_NE(family_of(add_op(100)), family_of(add_op(100, " order=relaxed")));
}

TEST_F(WisdomTest, ARequestTakesTheMeasuredSchedule) {
  const VerifiedOp op = add_op(65536);
  const auto learned = wisdom({record_of(op, "", 1), record_of(op, kTuned, 0.8), record_of(op, "vector_bytes=16", 0.9)});
  const Compiled with = planned(op, learned), without = planned(op);
  EXPECT_EQ(with.schedule.prefetch, 24);
  EXPECT_EQ(with.schedule.unroll, 8);
  EXPECT_EQ(without.schedule, without.heuristic);
  EXPECT_THAT(with.learned.from, HasSubstr("exact: 1 workload measured on " + machine_key(machine())));
  EXPECT_TRUE(without.learned.from.empty());
  KernelOptions options;
  options.threads = 2;
  options.wisdom = learned;
  Runtime runtime;
  EXPECT_EQ(runtime.get(*op, options)->schedule().prefetch, 24);
  options.schedule.prefetch = 4;  // the caller's knobs come first
  EXPECT_EQ(runtime.get(*op, options)->schedule().prefetch, 4);
  EXPECT_EQ(runtime.get(*op, options)->schedule().unroll, 8);
}

TEST_F(WisdomTest, TheDefaultStaysWhereNothingIsFasterBeyondNoise) {
  const VerifiedOp op = add_op(65536);
  WisdomRecord unsure = record_of(op, kTuned, 0.8), unconfirmed = record_of(op, "prefetch=8", 0.5);
  unsure.ratio_high = 1.1;
  unconfirmed.is_confirmed = false;
  const Compiled made = planned(op, wisdom({record_of(op, "", 1), unsure, unconfirmed}));
  EXPECT_EQ(made.schedule, made.heuristic);
  EXPECT_THAT(made.learned.from, HasSubstr("exact"));
}

TEST_F(WisdomTest, ALaterRecordReplacesAnEarlierOne) {
  const VerifiedOp op = add_op(65536);
  WisdomRecord later = record_of(op, kTuned, 1.3);
  later.date = "2026-11-24T00:00:00Z";
  const Compiled made = planned(op, wisdom({record_of(op, "", 1), later, record_of(op, kTuned, 0.8)}));
  EXPECT_EQ(made.schedule, made.heuristic);
}

TEST_F(WisdomTest, SeveralWorkloadsCountTogether) {
  const VerifiedOp op = add_op(65536);
  std::vector<WisdomRecord> records = {record_of(op, "", 1), record_of(op, kTuned, 0.5), record_of(op, "prefetch=8", 0.8)};
  for (WisdomRecord& r : std::vector<WisdomRecord>(records)) {
    r.indices = "zipf(1)";
    if (r.ratio == 0.5) r.ratio = 2.2, r.ratio_high = 2.3;  // the first one's gain is lost here
    records.push_back(r);
  }
  EXPECT_EQ(planned(op, wisdom(records)).schedule.prefetch, 8);
}

TEST_F(WisdomTest, TheNearestShapeAnswersWhereTheOpWasNotMeasured) {
  const auto learned = wisdom({record_of(add_op(65536), "", 1), record_of(add_op(65536), kTuned, 0.8),
                               record_of(add_op(1 << 19), "", 1), record_of(add_op(1 << 19), "prefetch=8,unroll=8", 0.7)});
  const Compiled near = planned(add_op(100'000), learned);
  EXPECT_EQ(near.schedule.prefetch, 24);
  EXPECT_THAT(near.learned.from, HasSubstr("nearest shape: 0.6 doublings away"));
  EXPECT_EQ(planned(add_op(1 << 18), learned).schedule.prefetch, 8);
  const Compiled far = planned(add_op(1000), learned);
  EXPECT_EQ(far.schedule, far.heuristic);
  EXPECT_THAT(far.learned.from, HasSubstr("no record of this op or a near one"));
}

TEST_F(WisdomTest, AnotherMachineWithTheSameVectorsAnswersLast) {
  const VerifiedOp op = add_op(65536);
  std::vector<WisdomRecord> records = {record_of(op, "", 1), record_of(op, kTuned, 0.8)};
  for (WisdomRecord& r : records) r.machine = "another one";
  const Compiled made = planned(op, wisdom(records));
  EXPECT_EQ(made.schedule.prefetch, 24);
  EXPECT_THAT(made.learned.from, HasSubstr("other machine: 1 workload measured on another one"));
  for (WisdomRecord& r : records) r.features = "aarch64, 16-byte vectors";
  const Compiled none = planned(op, wisdom(records));
  EXPECT_EQ(none.schedule, none.heuristic);
}

TEST_F(WisdomTest, AKernelForANamedTargetDoesNotDependOnTheMachineThatBuildsIt) {
  const VerifiedOp op = add_op(65536);
  std::vector<WisdomRecord> records = {record_of(op, "", 1), record_of(op, kTuned, 0.8)};
  for (WisdomRecord& r : records) r.features = features_key(*parse_target("x86-64-v3"));
  const Compiled here = planned(op, wisdom(records), "x86-64-v3");
  EXPECT_THAT(here.learned.from, HasSubstr("other machine"));
  for (WisdomRecord& r : records) r.machine = "another one";
  EXPECT_EQ(planned(op, wisdom(records), "x86-64-v3").schedule, here.schedule);
}

TEST_F(WisdomTest, IllegalRecordsAreLeftOutWithTheReason) {
  const VerifiedOp op = add_op(65536);
  WisdomRecord illegal = record_of(op, kTuned, 0.5), unknown = record_of(op, kTuned, 0.6);
  illegal.schedule = print(*parse_schedule("strategy=positions", planned(op).schedule));
  unknown.schedule = "colour=blue";
  const Compiled made = planned(op, wisdom({record_of(op, "", 1), illegal, unknown, record_of(op, kTuned, 0.8)}));
  EXPECT_EQ(made.schedule.prefetch, 24);
  EXPECT_THAT(made.learned.from, HasSubstr("a record is left out: schedule: strategy positions"));
  EXPECT_THAT(made.learned.from, HasSubstr("colour"));
}

TEST_F(WisdomTest, TheNumberOfTablesOfARelaxedSumIsNotTakenOver) {
  const VerifiedOp op = add_op(256, " order=relaxed");
  const Compiled plain = planned(op);
  const Compiled made = planned(op, wisdom({record_of(op, "", 1), record_of(op, "tables=3", 0.5)}));
  EXPECT_EQ(made.schedule.tables, plain.schedule.tables);
}

TEST_F(WisdomTest, LinesThatAreNoRecordsAreLeftOutOneByOne) {
  const VerifiedOp op = add_op(65536);
  const std::string tuned = print(record_of(op, kTuned, 0.8));
  {
    std::ofstream out(path_);
    out << "garbage\n" << print(record_of(op, "", 1)) << "{\"format\":9}\n\n" << tuned.substr(0, tuned.size() / 3);
  }
  // The line that a writer did not finish does not swallow the next one.
  ASSERT_TRUE(append_wisdom(path_, std::vector<WisdomRecord>{record_of(op, kTuned, 0.8)}).ok());
  const Expected<std::shared_ptr<const Wisdom>> loaded = Wisdom::load(path_);
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(planned(op, *loaded).schedule.prefetch, 24);
  EXPECT_EQ(problems_of(**loaded).size(), 3U);
  const Expected<WisdomLines> lines = read_wisdom(path_);
  EXPECT_EQ(lines->records.size(), 2U);
  ASSERT_EQ(lines->problems.size(), 3U);
  EXPECT_THAT(lines->problems[0], HasSubstr(path_ + ":1: the line is no JSON object"));
}

TEST_F(WisdomTest, FilesThatCannotBeReadOrWrittenAreErrors) {
  EXPECT_THAT(Wisdom::load("/no/such/file").status().message(), HasSubstr("/no/such/file"));
  EXPECT_FALSE(Wisdom::load(testing::TempDir()).ok());
  const std::vector<WisdomRecord> records = {record_of(add_op(100), "", 1)};
  EXPECT_THAT(append_wisdom("/proc/no/file", records).message(), HasSubstr("/proc/no/file: cannot append"));
  EXPECT_THAT(append_wisdom("/dev/null", records).message(), HasSubstr("no regular file"));
}

TEST_F(WisdomTest, ProcessesAndThreadsAppendAtTheSameTime) {
  const WisdomRecord record = record_of(add_op(65536), kTuned, 0.8);
  constexpr int kProcesses = 3, kThreads = 3, kTimes = 40;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 0; i < kTimes; ++i)
        if (!append_wisdom(path_, std::vector<WisdomRecord>{record, record}).ok()) _exit(1);
      _exit(0);
    }
    children.push_back(child);
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < kTimes; ++i) {
        EXPECT_TRUE(append_wisdom(path_, std::vector<WisdomRecord>{record, record}).ok());
        const Expected<WisdomLines> lines = read_wisdom(path_);
        EXPECT_TRUE(lines.ok());
        EXPECT_LE(lines->problems.size(), 1U);  // a line that is being written
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const pid_t child : children) {
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const Expected<WisdomLines> lines = read_wisdom(path_);
  EXPECT_TRUE(lines->problems.empty());
  EXPECT_EQ(lines->records.size(), static_cast<size_t>(2 * kTimes * (kProcesses + kThreads)));
}

}  // namespace
}  // namespace strew
