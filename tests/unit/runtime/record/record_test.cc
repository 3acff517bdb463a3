// Recording: the statistics of indices lead back to their distribution, and a program's calls become tuning tasks.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/record/recorder.h"
#include "strew/log.h"
#include "strew/runtime.h"
#include "strew/text.h"
#include "tune/recorded_usage.h"
#include "tune/workload_data.h"

namespace strew {
namespace {

using testing::HasSubstr;

VerifiedOp op_of(const std::string& text) { return std::move(VerifiedOp::of(std::move(*parse_op(text)))).value(); }

VerifiedOp add_op() {
  return op_of(
      "strew1.scatter(operand=f32[?,16] indices=i32[?] updates=f32[?,16] update_window_dims=[1] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add oob=error init=in_place)");
}

/// Sums of rows that are looked up by rows and columns. s0: positions, s1: rows of the result, s2 and s3: extents of the table that are indexed.
VerifiedOp lookup_op() {
  return op_of(
      "strew1.scatter(operand=f32[?,16] indices=i32[?] updates=f32[?,16] lookups=[updates(0)=gather(operand=f32[?,?,16] "
      "indices=i32[?,2] result=f32[?,16] offset_dims=[1] collapsed_slice_dims=[0,1] start_index_map=[0,1] index_vector_dim=1 "
      "slice_sizes=[1,1,16] oob=skip_window)] update_window_dims=[1] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add oob=skip_window init=fill fill=0:f32)");
}

IndexStatistics statistics_of(const std::string& indices, int64_t positions, int64_t rows) {
  const VerifiedOp op = add_op();
  const InventedUsage usage = std::move(*invent_usage(op, {{{"s0", positions}, {"s1", rows}}, indices, "hot", 1, 1}));
  const WorkloadData data = std::move(*WorkloadData::make(op, usage.usage, 5, int64_t{1} << 30));
  return index_statistics(*op, data.call(0))[0];
}

TEST(Record, StatisticsLeadBackToTheDistribution) {
  const auto found = [](const char* indices, int64_t rows = 20'000) {
    return distribution_of(statistics_of(indices, 10'000, rows));
  };
  EXPECT_EQ(found("uniform"), "uniform");
  EXPECT_EQ(found("sorted"), "sorted");
  EXPECT_EQ(found("permutation"), "permutation");
  EXPECT_THAT(found("hot(0.5)"), HasSubstr("hot(0.5"));
  EXPECT_THAT(found("runs(8)"), testing::AnyOf(HasSubstr("runs(7."), HasSubstr("runs(8.")));
  EXPECT_THAT(found("hot(0.9)"), HasSubstr("hot(0.9"));
  EXPECT_THAT(found("zipf(2)"), HasSubstr("zipf("));
  for (const double s : {0.8, 1.0, 1.3}) {
    const std::string text = found(("zipf(" + std::to_string(s) + ")").c_str());
    ASSERT_THAT(text, HasSubstr("zipf("));
    EXPECT_NEAR(std::stod(text.substr(5)), s, 0.25) << text;
  }
  EXPECT_EQ(found("uniform", 100'000'000 / 16), "uniform");  // hardly any row occurs twice, and yet it is no permutation
}

TEST(Record, CountsWhatItSays) {
  const IndexStatistics s = statistics_of("permutation", 100, 100);
  EXPECT_EQ(s.positions, 100);
  EXPECT_EQ(s.rows, 100);
  EXPECT_EQ(s.distinct, 100);
  EXPECT_EQ(s.top_share, 0.01);
  EXPECT_EQ(s.run_length, 1);
  EXPECT_EQ(statistics_of("uniform", 0, 10).positions, 0);
  EXPECT_EQ(distribution_of(IndexStatistics{}), "uniform");
}

// Every batch has a frequent row of its own, and its indices ascend: the batches are told apart.
TEST(Record, BatchesAreToldApart) {
  const VerifiedOp op = op_of(
      "strew1.gather(operand=f32[4,1000] indices=i64[4,6] result=f32[4,6] operand_batching_dims=[0] "
      "start_indices_batching_dims=[0] collapsed_slice_dims=[1] start_index_map=[1] index_vector_dim=2 slice_sizes=[1,1] "
      "oob=clamp)");
  const int64_t table[] = {4, 1000}, positions[] = {4, 6};
  std::vector<int64_t> indices;
  for (const int64_t row : {700, 300, 500, 100}) indices.insert(indices.end(), {row, row, row, row, row + 1, -5});
  const TensorView views[] = {{static_cast<void*>(nullptr), DType::f32, 2, positions},
                              {static_cast<void*>(nullptr), DType::f32, 2, table},
                              {static_cast<void*>(indices.data()), DType::i64, 2, positions}};
  const IndexStatistics s = index_statistics(*op, views)[0];
  EXPECT_EQ(s.batches, 4);
  EXPECT_EQ(s.positions, 20);
  EXPECT_EQ(s.outside, 4);  // they do not count, whatever number they are
  EXPECT_EQ(s.distinct, 8);
  EXPECT_EQ(s.top_share, 0.8);
  EXPECT_EQ(s.ascending, 1);
  EXPECT_EQ(s.runs[0], 4);
  EXPECT_EQ(s.runs[2], 4);
}

// The op's own indices ascend, and one is outside; those of the look-up are vectors, most of them one place, and two are outside.
TEST(Record, EachSourceIsToldOfByItself) {
  const int64_t sums[] = {10, 16}, positions[] = {6}, table[] = {20, 30, 16}, pairs[] = {6, 2};
  std::vector<int32_t> to = {0, 1, 1, 4, 9, 10}, from = {19, 29, 3, 4, 3, 4, 3, 4, 20, 4, 3, -1};
  const TensorView views[] = {{static_cast<void*>(nullptr), DType::f32, 2, sums},
                              {static_cast<void*>(to.data()), DType::i32, 1, positions},
                              {static_cast<void*>(nullptr), DType::f32, 3, table},
                              {static_cast<void*>(from.data()), DType::i32, 2, pairs}};
  const std::vector<IndexStatistics> seen = index_statistics(*lookup_op(), views);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].positions, 5);
  EXPECT_EQ(seen[0].outside, 1);
  EXPECT_EQ(seen[0].rows, 10);
  EXPECT_EQ(seen[0].distinct, 4);
  EXPECT_EQ(seen[0].ascending, 1);
  EXPECT_EQ(seen[1].positions, 4);
  EXPECT_EQ(seen[1].outside, 2);
  EXPECT_EQ(seen[1].rows, 600);
  EXPECT_EQ(seen[1].distinct, 2);
  EXPECT_EQ(seen[1].top_share, 0.75);
  EXPECT_EQ(seen[1].ascending, 0.75);
  EXPECT_EQ(seen[1].runs[1], 1);
}

// Data that is made of what a recording says of each source has statistics that say the same.
TEST(Record, StatisticsOfEachSourceLeadBackToItsDistribution) {
  const VerifiedOp op = lookup_op();
  const auto found = [&](const std::string& indices) {
    const Expected<InventedUsage> usage =
        invent_usage(op, {{{"s0", 10'000}, {"s1", 20'000}, {"s2", 100}, {"s3", 200}}, indices, "hot", 1, 1});
    EXPECT_TRUE(usage.ok()) << usage.status().message();
    const WorkloadData data = std::move(*WorkloadData::make(op, usage->usage, 5, int64_t{1} << 30));
    const std::vector<IndexStatistics> seen = index_statistics(*op, data.call(0));
    return distribution_of(seen[0]) + "," + distribution_of(seen[1]);
  };
  EXPECT_EQ(found("sorted,uniform"), "sorted,uniform");
  EXPECT_EQ(found("uniform,sorted"), "uniform,sorted");
  EXPECT_EQ(found("sorted,permutation"), "sorted,permutation");
  EXPECT_THAT(found("permutation,hot(0.5)"), testing::MatchesRegex("permutation,hot.0\\.[45].*"));
  EXPECT_THAT(found("hot(0.5),zipf(2)"), testing::MatchesRegex("hot\\(0\\.[45].*,zipf.*"));
  EXPECT_EQ(found("uniform"), "uniform,uniform");  // the look-up's are invented
}

class RecordingTest : public testing::Test {
 protected:
  RecordingTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ + "/" + name) << text; }
  std::string line(int64_t calls, const std::string& indices = "zipf(1)") const {
    return R"({"format":1,"op":")" + print(*add_op()) + R"(","dims":{"s0":512,"s1":4096},"threads":2,"calls":)" +
           std::to_string(calls) + R"(,"indices":")" + indices + "\",\"statistics\":{}}\n";
  }
  const std::string folder_ = testing::TempDir() + "/recording";
};

TEST_F(RecordingTest, CallsOfSeveralProcessesAreOneTask) {
  write("a.jsonl", line(10));
  write("b.jsonl", line(32));
  const Expected<RecordedTasks> read = read_recording(folder_, {});
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->tasks.size(), 1U);
  EXPECT_EQ(read->tasks[0].usage.calls, 42);
  EXPECT_EQ(print(read->tasks[0].usage), "s0=512,s1=4096 zipf(1) hot threads=2");
  EXPECT_TRUE(is_recording(folder_) && is_recording("x.jsonl") && !is_recording("x.onnx"));
  // What the user says comes first.
  EXPECT_EQ(print(read_recording(folder_, {{{"s1", 99}}, "uniform", "cold", 1, 1})->tasks[0].usage),
            "s0=512,s1=99 uniform cold threads=1");
}

TEST_F(RecordingTest, BadLinesAreLeftOutAndNamed) {
  write("a.jsonl", "nonsense\n{\"format\":7}\n" + line(0) + line(3, "gauss") + line(5) + line(8).substr(0, 40));
  const Expected<RecordedTasks> read = read_recording(folder_ + "/a.jsonl", {});
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->tasks.size(), 1U);
  ASSERT_EQ(read->problems.size(), 5U);
  EXPECT_THAT(read->problems[0], HasSubstr("a.jsonl:1: it is no JSON object"));
  EXPECT_THAT(read->problems[1], HasSubstr("a.jsonl:2: format is 7, expected 1"));
  EXPECT_THAT(read->problems[2], HasSubstr("expected numbers from 1 on"));
  EXPECT_THAT(read->problems[3], HasSubstr("'gauss'"));
}

TEST_F(RecordingTest, LookUpsHaveTheirOwn) {
  const std::string head = R"({"format":1,"op":")" + print(*lookup_op()) +
                           R"(","dims":{"s0":512,"s1":4096,"s2":16,"s3":8},"threads":2,"calls":7,"indices":"sorted")";
  const auto usage = [&](const std::string& lookups) {
    write("a.jsonl", head + lookups + "}\n");
    const Expected<RecordedTasks> read = read_recording(folder_, {});
    return read.ok() ? print(read->tasks[0].usage) : read.status().message();
  };
  const std::string dims = "s0=512,s1=4096,s2=16,s3=8 ";
  const auto lookup = [](const std::string& indices) { return R"(,"lookups":[{"indices":")" + indices + R"("}])"; };
  EXPECT_EQ(usage(lookup("zipf(1.2)")), dims + "sorted,zipf(1.2) hot threads=2");
  EXPECT_EQ(usage(""), dims + "sorted,uniform hot threads=2");  // as files of earlier versions
  // 512 positions of 128 places: what describes the first ones cannot be made; the op's own stay.
  EXPECT_EQ(usage(lookup("permutation")), dims + "sorted,uniform hot threads=2");
  EXPECT_THAT(usage(lookup("gauss")), HasSubstr("'gauss'"));
  EXPECT_THAT(usage(R"(,"lookups":[{}])"), HasSubstr("it is no record of calls"));
  EXPECT_THAT(usage(R"(,"lookups":[{"indices":"uniform"},{"indices":"uniform"}])"),
              HasSubstr("it has the indices of 2 look-ups, expected at most 1"));
  write("a.jsonl", head + lookup("zipf(1.2)") + "}\n");
  EXPECT_EQ(print(read_recording(folder_, {{}, ",hot(0.5)", "cold", 1, 1})->tasks[0].usage),
            dims + "zipf(1),hot(0.5) cold threads=1");  // what the user says comes first
}

/// Calls of a kernel, recorded by a child process, because a process has one recording.
class RecorderTest : public RecordingTest {
 protected:
  /// Runs `work` in a child and returns what its recording, and those of its own children, say.
  Expected<RecordedTasks> recorded(const std::function<void()>& work) const {
    const pid_t child = fork();
    if (child == 0) {
      work();
      std::_Exit(0);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    return read_recording(folder_, {});
  }
  void call(int times, int threads = 1) const {
    for (int i = 0; i < times; ++i) record_call(folder_, *kernel_.state(), data_.call(0), threads);
  }

  const VerifiedOp op_ = add_op();
  const WorkloadData data_ = std::move(*WorkloadData::make(
      op_, std::move(*invent_usage(op_, {{{"s0", 64}, {"s1", 128}}, "sorted", "hot", 1, 1})).usage, 5, int64_t{1} << 30));
  const Kernel kernel_ = std::move(*Runtime::process().get(op_, KernelOptions{}));
};

TEST_F(RecorderTest, NoCallOfAnyThreadIsLost) {
  const Expected<RecordedTasks> tasks = recorded([&] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) threads.emplace_back([&] { call(1000, 2); });
    for (std::thread& thread : threads) thread.join();
    write_recording(folder_);
  });
  ASSERT_TRUE(tasks.ok()) << tasks.status().message();
  ASSERT_EQ(tasks->tasks.size(), 1U);
  EXPECT_EQ(tasks->tasks[0].usage.calls, 4000);
  EXPECT_EQ(print(tasks->tasks[0].usage), "s0=64,s1=128 sorted hot threads=2");
}

TEST_F(RecorderTest, EachSourceOfACallIsRecorded) {
  const VerifiedOp op = lookup_op();
  const WorkloadData data = std::move(*WorkloadData::make(
      op,
      std::move(*invent_usage(op, {{{"s0", 4096}, {"s1", 512}, {"s2", 64}, {"s3", 32}}, "sorted,hot(0.5)", "hot", 1, 1})).usage,
      5, int64_t{1} << 30));
  const Kernel kernel = std::move(*Runtime::process().get(op, KernelOptions{}));
  const Expected<RecordedTasks> tasks = recorded([&] {
    for (int i = 0; i < 3; ++i) record_call(folder_, *kernel.state(), data.call(0), 1);
    write_recording(folder_);
  });
  ASSERT_TRUE(tasks.ok()) << tasks.status().message();
  ASSERT_EQ(tasks->tasks.size(), 1U);
  EXPECT_THAT(print(tasks->tasks[0].usage),
              testing::MatchesRegex("s0=4096,s1=512,s2=64,s3=32 sorted,hot\\(0\\.[45].* hot threads=1"));
}

TEST_F(RecorderTest, AForkedChildHasARecordingOfItsOwn) {
  const Expected<RecordedTasks> tasks = recorded([&] {
    call(10);
    const pid_t child = fork();
    if (child == 0) {
      call(3);
      write_recording(folder_);
      std::_Exit(0);
    }
    waitpid(child, nullptr, 0);
    write_recording(folder_);
  });
  ASSERT_TRUE(tasks.ok()) << tasks.status().message();
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 2);
  ASSERT_EQ(tasks->tasks.size(), 1U);
  EXPECT_EQ(tasks->tasks[0].usage.calls, 13);
}

TEST_F(RecorderTest, AFolderThatCannotBeWrittenIsOneWarning) {
  static int warnings = 0;
  const Expected<RecordedTasks> tasks = recorded([&] {
    set_log([](LogLevel, std::string_view text) { warnings += text.find("calls are not recorded") != text.npos ? 1 : 0; },
            LogLevel::warn);
    call(2);
    write_recording("/proc/no/such/folder");
    write_recording("/proc/no/such/folder");
    std::_Exit(warnings == 1 ? 0 : 1);
  });
  EXPECT_THAT(tasks.status().message(), HasSubstr("the folder has no recording"));
}

TEST_F(RecordingTest, NothingToReadIsAnError) {
  EXPECT_THAT(read_recording(folder_, {}).status().message(), HasSubstr("the folder has no recording"));
  write("a.jsonl", "{}\n");
  EXPECT_THAT(read_recording(folder_, {}).status().message(), HasSubstr("no calls to tune for"));
  EXPECT_FALSE(read_recording("/no/such/file.jsonl", {}).ok());
}

}  // namespace
}  // namespace strew
