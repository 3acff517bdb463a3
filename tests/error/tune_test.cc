// strew tune and strew wisdom, as users call them: what they print, keep and refuse.
#include <csignal>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/cli.h"

namespace strew::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Tune : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    write("open.strew",
          "strew1.scatter(operand=f32[?,16] indices=i32[?] updates=f32[?,16] update_window_dims=[1] inserted_window_dims=[0] "
          "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add oob=error init=in_place)\n");
    write("small.strew",
          "strew1.scatter(operand=f32[4096,16] indices=i32[512] updates=f32[512,16] update_window_dims=[1] "
          "inserted_window_dims=[0] "
          "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add oob=error init=in_place)\n");
  }
  /// stdout of a command that tells its progress on stderr.
  std::string tuned(const std::string& arguments, const std::string& before) const {
    const Outcome o = strew(arguments, before);
    EXPECT_EQ(o.exit, 0) << arguments << "\n" << o.err;
    return o.out;
  }
  const std::string off_ = "STREW_WISDOM=off", file_ = "STREW_WISDOM=kept/wisdom.jsonl";
};

/// The last line that is not empty.
std::string last_line(const std::string& text) {
  const size_t end = text.find_last_not_of('\n'), begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1, end - begin);
}

TEST_F(Tune, SaysWhatItInventedAndNamesTheWinnerLast) {
  const std::string out = tuned("tune open.strew --budget 2s --threads 1", off_);
  EXPECT_THAT(out, AllOf(HasSubstr("s0 (dim 0 of indices) is open: "), HasSubstr("zipf(1) is taken"),
                         HasSubstr("candidates measured in")));
  EXPECT_THAT(last_line(out), StartsWith("winner: "));
  const std::string given =
      tuned("tune open.strew --budget 2s --threads 1 --dims s0=64,s1=1000 --indices uniform --temperature hot", off_);
  EXPECT_THAT(given, HasSubstr("s0=64,s1=1000 uniform hot threads=1\n"));
  EXPECT_THAT(given, Not(HasSubstr("is open")));
}

TEST_F(Tune, KeepsWisdomThatOtherCommandsTake) {
  tuned("tune small.strew --budget 2s --threads 1", file_);
  const std::string list = success("wisdom list", file_);
  EXPECT_THAT(list, AllOf(HasSubstr("strew1.scatter(operand=f32[4096,16]"), HasSubstr("hot threads=1, on ")));
  EXPECT_THAT(success("explain small.strew --all --threads 1", file_), HasSubstr("  wisdom      exact: 1 workload measured on "));
  EXPECT_THAT(success("explain small.strew --threads 1 --json", file_), HasSubstr("\"wisdom\": \"exact: "));
  EXPECT_THAT(success("explain small.strew --all --threads 1 --wisdom off", file_), Not(HasSubstr("  wisdom ")));
  EXPECT_THAT(success("explain small.strew --all --threads 1 --wisdom kept/wisdom.jsonl", off_),
              HasSubstr("  wisdom      exact: "));
  EXPECT_THAT(success("explain open.strew --all --threads 1", file_), HasSubstr("  wisdom      no record of this op"));
  // A kernel for a named target does not depend on what this machine has learned.
  EXPECT_THAT(success("explain small.strew --all --threads 1 --target x86-64-v3", file_), Not(HasSubstr("  wisdom ")));
  EXPECT_THAT(success("wisdom export -o shipped.jsonl --machine here", file_), HasSubstr("shipped.jsonl: "));
  EXPECT_THAT(success("wisdom merge shipped.jsonl kept/wisdom.jsonl -o all.jsonl"), HasSubstr("all.jsonl: "));
  EXPECT_EQ(success("wisdom diff all.jsonl kept/wisdom.jsonl"), "no difference\n");
  EXPECT_THAT(success("wisdom prune all.jsonl --older-than 2100-01-01"), HasSubstr("all.jsonl: 0 records"));
  EXPECT_EQ(success("wisdom list all.jsonl"), "no records\n");
}

TEST_F(Tune, RecordsOfABusyHostAreShownAsSuch) {
  tuned("tune small.strew --budget 2s --threads 1", file_);
  std::istringstream lines(read("kept/wisdom.jsonl"));
  std::string idle, busy;
  for (std::string line; std::getline(lines, line);) {
    if (const size_t mark = line.find(",\"busy\":true"); mark != std::string::npos) line.erase(mark, 12);
    idle += line + "\n";
    line.insert(line.size() - 1, ",\"busy\":true");
    busy += line + "\n";
  }
  write("idle.jsonl", idle);
  write("busy.jsonl", busy);
  EXPECT_THAT(success("wisdom list idle.jsonl"), Not(HasSubstr("busy")));
  EXPECT_THAT(success("wisdom list busy.jsonl"), HasSubstr("; the host was busy\n"));
  EXPECT_THAT(success("wisdom list busy.jsonl --json"), HasSubstr("\"busy\": true"));
  EXPECT_THAT(success("wisdom list idle.jsonl --json"), HasSubstr("\"busy\": false"));
}

TEST_F(Tune, TimingsAreReplayed) {
  tuned("tune small.strew --budget 2s --threads 1 --timings times.jsonl", off_);
  const std::string once = success("wisdom replay times.jsonl"), again = success("wisdom replay times.jsonl");
  EXPECT_THAT(last_line(once), StartsWith("winner: "));
  EXPECT_EQ(once, again);
}

// Timings of the default and of one variant, which takes half as long until it is looked at a second time. After how many samples that is depends on the
// waves that the search makes.
TEST_F(Tune, AWinnerThatLosesItsSecondLookIsNamed) {
  tuned("tune small.strew --budget 2s --threads 1 --timings times.jsonl", off_);
  std::istringstream lines(read("times.jsonl"));
  std::string heads;
  std::vector<std::string> variants;  // as lines begin
  for (std::string line; std::getline(lines, line);) {
    const size_t end = line.find(",\"failure\":\"\"");
    if (line.find("\"variant\"") == std::string::npos) heads += line + "\n";
    if (end == std::string::npos || variants.size() == 2) continue;
    if (variants.empty() || variants[0] != line.substr(0, end)) variants.push_back(line.substr(0, end));
  }
  ASSERT_EQ(variants.size(), 2U);
  constexpr int kRoundsOfAWave = 17, kRoundsOfConfirmation = 39, kRoundsOfSecondLook = 13, kMostWaves = 12;
  std::string out;
  for (int waves = 1; waves <= kMostWaves && out.find("not kept: ") == std::string::npos; ++waves) {
    std::string text = heads;
    for (const std::string& variant : variants) text += variant + ",\"failure\":\"\",\"seconds\":0.0001}\n";
    for (int i = 0; i < kRoundsOfAWave * waves + kRoundsOfConfirmation + kRoundsOfSecondLook; ++i) {
      const bool is_second_look = i >= kRoundsOfAWave * waves + kRoundsOfConfirmation;
      text += variants[0] + ",\"nanoseconds\":1000,\"seconds\":0.0001}\n";
      text += variants[1] + ",\"nanoseconds\":" + (is_second_look ? "1100" : "500") + ",\"seconds\":0.0001}\n";
    }
    write("made.jsonl", text);
    out = success("wisdom replay made.jsonl");
  }
  EXPECT_THAT(out, AllOf(HasSubstr("  winner    the default: nothing was faster beyond noise\n"), HasSubstr("  not kept: "),
                         HasSubstr(" looked faster, and its second look beside the default gave 1.10 (1.10..1.10) of the "
                                   "default's time, 13 rounds\n")));
  EXPECT_THAT(last_line(out), HasSubstr("the default, "));
}

TEST_F(Tune, WritesAReport) {
  tuned("tune small.strew --budget 2s --threads 1 --report report.html", off_);
  EXPECT_THAT(read("report.html"), AllOf(StartsWith("<!DOCTYPE html>"), HasSubstr("Tuned kernels")));
  EXPECT_THAT(failure(1, "tune small.strew --budget 200ms --report no/such/folder/r.html", off_),
              HasSubstr("no/such/folder/r.html: cannot write"));
}

TEST_F(Tune, EstimateMeasuresNothing) {
  EXPECT_THAT(tuned("tune small.strew --mode estimate --threads 1", off_), HasSubstr("0 candidates measured"));
  EXPECT_THAT(tuned("tune small.strew --mode estimate --threads 1 --json", off_), HasSubstr("\"mode\": \"estimate\""));
}

TEST_F(Tune, ARecordingOfAProgramIsAWorkload) {
  write_tensor("rows.npy", DType::f32, {4096, 16}, {});
  write_tensor("updates.npy", DType::f32, {512, 16}, {});
  write_tensor("indices.npy", DType::i32, {512}, {});
  success("run small.strew --input rows.npy indices.npy updates.npy --output out.npy --threads 1", "STREW_RECORD=recorded");
  const std::string out = tuned("tune recorded --budget 2s", off_);
  EXPECT_THAT(out, HasSubstr("recorded_0: "));
}

// The sums of a call are of one row, and each row of the table is looked up once, in order: the recording says so of each source.
TEST_F(Tune, LookUpsWithOpenExtentsAreTuned) {
  write("bags.strew",
        "strew1.scatter(operand=f32[?,16] indices=i32[?] updates=f32[?,16] "
        "lookups=[updates(0)=gather(operand=f32[?,16] indices=i32[?] result=f32[?,16] offset_dims=[1] collapsed_slice_dims=[0] "
        "start_index_map=[0] index_vector_dim=1 slice_sizes=[1,16] oob=error)] update_window_dims=[1] "
        "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place oob=error)\n");
  const std::string invented = tuned("tune bags.strew --budget 1s --threads 1 --indices sorted", off_);
  EXPECT_THAT(invented, AllOf(HasSubstr("s2 (dim 0 of updates) is open: "), HasSubstr(" sorted,uniform hot threads=1\n"),
                              HasSubstr("of the look-up of updates 0 are spread is unknown: uniform is taken")));
  EXPECT_THAT(tuned("tune bags.strew --budget 1s --threads 1 --dims s0=64,s1=1000,s2=99 --indices 'sorted,zipf(2)'", off_),
              HasSubstr("s0=64,s1=1000,s2=99 sorted,zipf(2) hot threads=1\n"));
  write_tensor("sums.npy", DType::f32, {40, 16}, {});
  write_tensor("table.npy", DType::f32, {100, 16}, {});
  std::string to, from;  // little-endian
  for (char row = 0; row < 100; ++row) {
    to += std::string("\7\0\0\0", 4);
    from += row + std::string(3, '\0');
  }
  write_tensor("to.npy", DType::i32, {100}, to);
  write_tensor("from.npy", DType::i32, {100}, from);
  success("run bags.strew --input sums.npy to.npy table.npy from.npy --output out.npy --threads 1", "STREW_RECORD=recorded");
  EXPECT_THAT(tuned("tune recorded --budget 1s", off_), HasSubstr("recorded_0: s0=100,s1=40,s2=100 hot(1),sorted "));
}

TEST_F(Tune, BadUsageIsRefused) {
  EXPECT_THAT(failure(2, "tune"), HasSubstr("FILE: it is missing"));
  for (const char* budget : {"0s", "-1s", "30", "s", "nan", "1e9s", "3x"})
    EXPECT_THAT(failure(2, "tune small.strew --budget " + std::string(budget), off_),
                HasSubstr("--budget: it is '" + std::string(budget) + "'"));
  EXPECT_THAT(failure(2, "tune small.strew --mode fast", off_), HasSubstr("--mode"));
  EXPECT_THAT(failure(1, "tune small.strew --indices gauss", off_), HasSubstr("indices: 'gauss', expected uniform"));
  EXPECT_THAT(failure(1, "tune small.strew --dims s0=3", off_), HasSubstr("dims: 's0', expected none: every extent is known"));
  EXPECT_THAT(failure(1, "tune open.strew --dims s0", off_), HasSubstr("expected SYMBOL=EXTENT"));
  EXPECT_THAT(failure(1, "tune open.strew --dims s1=4000000000000", off_), HasSubstr("expected at most"));
  EXPECT_THAT(failure(1, "tune small.strew --kernel other", off_), HasSubstr("kernel: 'other' is not in the file"));
  EXPECT_THAT(failure(1, "tune nothing.strew", off_), HasSubstr("nothing.strew"));
  EXPECT_THAT(failure(1, "tune small.strew --indices nothing.npy", off_), HasSubstr("nothing.npy"));
  EXPECT_THAT(failure(1, "explain small.strew --wisdom nothing.jsonl"), HasSubstr("nothing.jsonl"));
}

TEST_F(Tune, BadWisdomIsNamedAndTheRestIsUsed) {
  tuned("tune small.strew --budget 2s --threads 1", file_);
  write("bad.jsonl", "garbage\n" + read("kept/wisdom.jsonl") + "{\"format\":9}\n");
  const Outcome list = strew("wisdom list bad.jsonl");
  EXPECT_EQ(list.exit, 0);
  EXPECT_THAT(list.err, AllOf(HasSubstr("warning: bad.jsonl:1: the line is no JSON object; the line is left out"),
                              HasSubstr("format is 9")));
  EXPECT_THAT(list.out, HasSubstr("hot threads=1"));
  EXPECT_THAT(strew("explain small.strew --all --threads 1 --wisdom bad.jsonl").out, HasSubstr("  wisdom      exact: "));
  EXPECT_THAT(failure(2, "wisdom diff bad.jsonl"), HasSubstr("1 are given, expected the two files to compare"));
  EXPECT_THAT(failure(2, "wisdom merge -o x.jsonl"), HasSubstr("expected the files to merge"));
  EXPECT_THAT(failure(1, "wisdom list", off_), HasSubstr("STREW_WISDOM is off, expected a file"));
  EXPECT_THAT(failure(1, "wisdom replay bad.jsonl"), HasSubstr("no timings of an op"));
}

}  // namespace
}  // namespace strew::testing
