// strew explain: the ten lines of each kernel, for all policies and kinds of op; and what it says where a library cannot be opened.
#include <filesystem>

#include "tests/support/cli.h"

namespace strew::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class ExplainTest : public Cli {
 protected:
  std::string of(const std::string& op, const std::string& more = "") {
    write("k.strew", op);
    return success("explain k.strew --target znver4 " + more);
  }
  static std::string rows(const std::string& policy, const std::string& n = "8") {
    return "strew1.scatter(operand=f32[50,64] indices=i32[" + n + "] updates=f32[" + n +
           ",64] update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 "
           "combiner=add " +
           policy + ")";
  }
};

TEST_F(ExplainTest, AKernelInTenLines) {
  write("kv.strew",
        "strew1.scatter(operand=bf16[8,8,2048,128] indices=i64[8] updates=bf16[8,8,1,128] update_window_dims=[1,2,3] "
        "input_batching_dims=[0] "
        "scatter_indices_batching_dims=[0] scatter_dims_to_operand_dims=[2] index_vector_dim=1 oob=error)");
  const std::string text = success("explain kv.strew --target znver4");
  EXPECT_THAT(text,
              MatchesRegex("kernel op_1 .kv.strew:1.\n"
                           "  does        result.i, :, indices.i., :. = updates.i, :, 0, :.\n"
                           "  op          strew1.scatter.*\n"
                           "  size        8 index positions, 1024 elements each; updates 16.0 KiB, indices 64 B, table 32.0 MiB\n"
                           "  indices     one out of bounds is an error, and then nothing is written .policy error.\n"
                           "  runs on     llvm, strategy [a-z]+, at most [0-9]+ threads .chosen by the cost model.\n"
                           "  predicted   about .*; calls of 8 threads\n"
                           "  copies      the whole operand, 33554432 B, in every call whose result buffer is not the operand's\n"
                           "  would help  give the result the operand's buffer .in place., and nothing is copied\n"
                           "              `strew tune kv.strew --kernel op_1` measures schedules instead of predicting them\n"
                           "--all: .*\n"));
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 14);
  EXPECT_THAT(text, Not(HasSubstr("guarantees")));
  // With the file's names; and a call of some nanoseconds is not worth tuning.
  EXPECT_THAT(success("explain kv.onnx"),
              AllOf(HasSubstr("  does        present_cache[i, write_indices[i] : write_indices[i]+2, :] = update[i, :, :]\n"),
                    Not(HasSubstr("strew tune"))));
}

TEST_F(ExplainTest, SaysWhatBecomesOfIndices) {
  EXPECT_THAT(of(rows("oob=clamp")), HasSubstr("  indices     a window is moved until it is in bounds (policy clamp)\n"));
  EXPECT_THAT(of(rows("oob=wrap")), HasSubstr("taken modulo the extent (policy wrap)\n"));
  EXPECT_THAT(of(rows("oob=skip_window")), HasSubstr("a window that is not wholly in bounds is left out (policy skip_window)\n"));
  EXPECT_THAT(of(rows("oob=skip_element")), HasSubstr("elements out of bounds are left out (policy skip_element)\n"));
  EXPECT_THAT(of(rows("oob=undefined")),
              HasSubstr("the caller promises that all are in bounds (policy undefined); run checks every index"));
  EXPECT_THAT(of(rows("oob=error normalize_negative=true")),
              HasSubstr("  indices     negative ones count from the end; one out"));
  const std::string gather =
      "strew1.gather(operand=f32[50,64] indices=i32[8] result=f32[8,64] offset_dims=[1] collapsed_slice_dims=[0] "
      "start_index_map=[0] "
      "index_vector_dim=1 slice_sizes=[1,64] ";
  EXPECT_THAT(of(gather + "oob=fill_element fill=7:f32)"),
              AllOf(HasSubstr("  does        result[i, :] = operand[indices[i], :]\n"),
                    HasSubstr("elements out of bounds are 7 (policy fill_element)\n")));
  EXPECT_THAT(of(gather + "oob=fill_window fill=7:f32)"), HasSubstr("a window that is not wholly in bounds is 7 ("));
}

TEST_F(ExplainTest, OpenExtentsAreSaidToBeAssumed) {
  const std::string text = of(rows("oob=error", "?"));
  EXPECT_THAT(text,
              HasSubstr("  size        an open number of index positions; updates f32[?,64], indices i32[?], table 12.5 KiB\n"));
  EXPECT_THAT(text, MatchesRegex("(.|\n)*  predicted   about .*, if every open extent is 65536; calls of 8 threads\n(.|\n)*"));
}

TEST_F(ExplainTest, RefusalsAreNotDoubled) {
  const std::string text = success("explain kv.onnx --all");
  EXPECT_THAT(text, Not(HasSubstr("no: schedule: strategy")));
  EXPECT_THAT(text, HasSubstr("no: windows of kind"));
}

// A copy of the program and its libraries without libLLVM's module.
TEST_F(ExplainTest, SaysThatLlvmCannotBeOpened) {
  const std::filesystem::path bin = folder_ / "bin", lib = folder_ / "lib";
  std::filesystem::create_directory(bin);
  std::filesystem::create_directory(lib);
  std::filesystem::copy_file(test::built_program("strew"), bin / "strew");
  for (const auto& entry : std::filesystem::directory_iterator(test::built_libraries())) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("libstrew.so") || name.starts_with("libstrew_rt.so")) std::filesystem::copy(entry.path(), lib / name);
  }
  const std::string command = "cd '" + folder_.string() + "' && LD_LIBRARY_PATH=lib bin/strew explain kv.onnx >out.txt 2>err.txt";
  ASSERT_EQ(std::system(command.c_str()), 0) << read("err.txt");
  EXPECT_THAT(read("out.txt"),
              AllOf(HasSubstr("  runs on     llvm, which cannot be opened, so that a portable kernel takes its place: "),
                    HasSubstr("  would help  install the library that is missing")));
}

}  // namespace
}  // namespace strew::testing
