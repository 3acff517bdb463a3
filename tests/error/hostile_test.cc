// Files from strangers (docs/security.md): promises that a file makes are not believed, what is no regular file is refused without waiting,
// sizes and memory are bounded.
#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "compiler/op/limits.h"
#include "strew/text.h"
#include "tests/support/cli.h"
#include "tests/support/deep_expr.h"

namespace strew::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(STREW_SANITIZED)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

class Hostile : public Cli {
 protected:
  static constexpr const char* kUndefined =
      "strew1.scatter(operand=f32[4] indices=i32[2] updates=f32[2] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
      "index_vector_dim=1 oob=undefined)";
  static constexpr const char* kRunUndefined = "run far.strew --input table.npy at.npy ones.npy --output y.npy";

  void SetUp() override {
    Cli::SetUp();
    write("far.strew", kUndefined);
    write_tensor("table.npy", DType::f32, {4}, "");
    write_tensor("ones.npy", DType::f32, {2}, std::string("\0\0\x80\x3f\0\0\x80\x3f", 8));
    write_at(900000000);
  }
  /// Two i32 indices: 1 and `second`.
  void write_at(int32_t second) const {
    const int32_t values[] = {1, second};
    write_tensor("at.npy", DType::i32, {2}, std::string(reinterpret_cast<const char*>(values), sizeof values));
  }
  /// A .npy file of `count` zeros of type `descr`, 4 bytes each, that takes no disk space.
  void write_sparse(const std::string& name, const std::string& descr, int64_t count) const {
    std::string dict = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + std::to_string(count) + ",), }";
    dict.resize(117, ' ');
    write(name, std::string("\x93NUMPY\x01\0\x76\0", 10) + dict + "\n");
    std::filesystem::resize_file(path(name), 128 + static_cast<size_t>(4 * count));
  }
  std::string large_scatter(int64_t floats) const {
    return "strew1.scatter(operand=f32[" + std::to_string(floats) +
           "] indices=i32[2] updates=f32[2] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1)";
  }
};

TEST_F(Hostile, PolicyUndefinedOfAFileIsChecked) {
  const auto out_of_bounds = HasSubstr("index out of bounds: update position [1] (linear 1), component 0: value 900000000");
  for (const char* how :
       {"", " --verify", " --time", " --backend reference", " --backend llvm", " --threads 2", " --oob undefined"})
    EXPECT_THAT(failure(3, std::string(kRunUndefined) + how), out_of_bounds) << how;
  write_at(3);
  for (const char* how : {"", " --verify", " --trust-indices"}) success(std::string(kRunUndefined) + how);
}

TEST_F(Hostile, PolicyUndefinedOfModelsIsChecked) {
  write("far.mlir", R"(func.func @f(%d: tensor<4xf32>, %s: tensor<2x1xf32>) -> tensor<4xf32> {
  %i = arith.constant dense<[[1], [900000000]]> : tensor<2x1xi32>
  %r = tensor.scatter %s into %d[%i] scatter_dims([0]) unique : (tensor<2x1xf32>, tensor<4xf32>, tensor<2x1xi32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
})");
  write_tensor("ones.npy", DType::f32, {2, 1}, "");
  EXPECT_THAT(success("check far.mlir"), HasSubstr("oob=undefined"));
  for (const char* how : {"", " --verify"})
    EXPECT_THAT(failure(3, std::string("run far.mlir --input table.npy ones.npy --output y.npy") + how),
                HasSubstr("index out of bounds: update position [1]"));
}

TEST_F(Hostile, CompileAndExplainKeepThePolicy) {
  EXPECT_THAT(success("explain far.strew --all"),
              AllOf(HasSubstr("oob=undefined"), HasSubstr("run         checks every index first, as policy error does"),
                    HasSubstr("checks every index first: no (policy undefined: the caller promises)")));
  EXPECT_THAT(success("explain far.strew --all --trust-indices"),
              HasSubstr("run         --trust-indices: an index out of bounds would"));
  EXPECT_THAT(nlohmann::json::parse(success("explain far.strew --json"))["kernels"][0]["run"].get<std::string>(),
              HasSubstr("as policy error does"));
  EXPECT_THAT(success("explain add.strew --all"), Not(HasSubstr("  run    ")));
  EXPECT_THAT(success("compile far.strew --emit op -o -"), HasSubstr("oob=undefined"));
  EXPECT_THAT(success("check far.strew"), HasSubstr("oob=undefined"));
}

TEST_F(Hostile, NothingButRegularFiles) {
  ASSERT_EQ(mkfifo(path("fifo.strew").c_str(), 0600), 0);
  ASSERT_EQ(mkfifo(path("fifo.npy").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", path("zero.strew"));
  std::filesystem::create_symlink("/dev/zero", path("zero.npy"));
  EXPECT_EQ(failure(1, "check fifo.strew"), "error: fifo.strew: cannot read: it is a pipe, expected a regular file\n");
  EXPECT_EQ(failure(1, "check zero.strew"), "error: zero.strew: cannot read: it is a device, expected a regular file\n");
  for (const char* name : {"fifo.npy", "zero.npy"})
    EXPECT_THAT(failure(1, "run far.strew --input " + std::string(name) + " at.npy ones.npy --output y.npy"),
                HasSubstr("expected a regular file"));
  EXPECT_THAT(failure(2, "explain far.strew --schedule @fifo.npy"), HasSubstr("it is a pipe"));
  EXPECT_THAT(success("explain far.strew --all --schedule @-", "echo unroll=2 |"), HasSubstr("unroll=2"));
}

TEST_F(Hostile, SizesAreLimited) {
  const std::string bytes = std::to_string(std::string(kUndefined).size());
  EXPECT_EQ(failure(1, "check far.strew --max-file-bytes 10"),
            "error: far.strew: the file has " + bytes + " bytes, expected at most 10 (--max-file-bytes)\n");
  success("check far.strew --max-file-bytes " + bytes);
  write_tensor("table.npy", DType::f32, {40}, "");
  EXPECT_THAT(failure(1, "run far.strew --max-file-bytes 200 --input table.npy at.npy ones.npy --output y.npy"),
              HasSubstr("table.npy: the file has 288 bytes, expected at most 200"));
  EXPECT_THAT(failure(2, "check far.strew --max-file-bytes 0"), HasSubstr("--max-file-bytes"));
  EXPECT_THAT(failure(2, "check far.strew --max-file-bytes many"), HasSubstr("--max-file-bytes"));
  std::string ops;
  for (int i = 0; i < (1 << 16) + 1; ++i) ops += std::string(kUndefined) + "\n";
  write("many.strew", ops);
  EXPECT_THAT(failure(1, "check many.strew"), HasSubstr("the file has 65537 ops, expected at most 65536"));
}

/// RLIMIT_DATA counts the private writable memory that a process holds (heap, anonymous mappings, stacks), not what it maps read-only of a
/// file or of a library: so the kernel itself refuses whatever goes beyond the limit, and nothing is measured.
TEST_F(Hostile, LargeTensorsAreInMemoryOnce) {
  if (kSanitized) GTEST_SKIP() << "sanitizers keep memory of their own";
  constexpr int64_t kCount = int64_t{32} << 20, kMib = 4 * kCount >> 20;  // 128 MiB each of operand and result
  const auto limit = [](int64_t mib) { return "ulimit -d " + std::to_string(mib << 10) + ";"; };
  write("large.strew", large_scatter(kCount));
  write_sparse("large.npy", "<f4", kCount);
  write_at(3);
  const std::string run = "run large.strew --threads 1 --input large.npy at.npy ones.npy --output y.npy";
  success(run, limit(kMib + 64));
  EXPECT_EQ(std::filesystem::file_size(path("y.npy")), std::filesystem::file_size(path("large.npy")));
  std::filesystem::remove(path("y.npy"));
  EXPECT_THAT(failure(1, run, limit(kMib / 2)), HasSubstr("memory")) << "the limit does limit";

  // Integers, which may be indices, are read: once.
  const std::string count = std::to_string(kCount);
  write("wide.strew", "strew1.gather(operand=f32[4] indices=i32[" + count + "] result=f32[" + count +
                          "] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 slice_sizes=[1])");
  write_sparse("wide.npy", "<i4", kCount);
  success("run wide.strew --threads 1 --input table.npy wide.npy --output y.npy", limit(2 * kMib + 64));
}

/// Main threads may have a small stack too: limits are those of the file, not of the shell that started us.
TEST_F(Hostile, TheLargestExpressionsNeedNoLargeStack) {
  const std::string limit = "ulimit -s " + std::to_string((kSanitized ? size_t{2} << 20 : size_t{512} << 10) >> 10) + ";";
  write_tensor("deep_table.npy", DType::i64, {5, 4}, "");
  write_tensor("deep_at.npy", DType::i32, {3, 1}, "");
  write_tensor("deep_rows.npy", DType::i64, {3, 4}, "");
  for (const test::DeepShape shape :
       {test::DeepShape::chain, test::DeepShape::comb, test::DeepShape::tree, test::DeepShape::shared}) {
    write("deep.strew", print(test::deep_op(shape, DType::i64, kMaxExprNodes)));
    success("check deep.strew", limit);
    success("explain deep.strew", limit);
    for (const char* backend : {"reference", "llvm"})
      success(
          std::string("run deep.strew --input deep_table.npy deep_at.npy deep_rows.npy --output deep.npy --backend ") + backend,
          limit);
    success("compile deep.strew --emit ll -o deep.ll", limit);
  }
}

TEST_F(Hostile, AnInputThatGetsShorterIsAnError) {
  constexpr int64_t kCount = int64_t{8} << 20;
  write("large.strew", large_scatter(kCount));
  write_sparse("large.npy", "<f4", kCount);
  write_at(3);
  const std::string program = test::built_program("strew"), folder = folder_.string();
  const pid_t child = fork();
  if (child == 0) {
    const int err = open(path("err.txt").c_str(), O_WRONLY | O_CREAT, 0600);
    if (chdir(folder.c_str()) != 0 || dup2(err, 2) < 0) _exit(126);
#ifdef __SANITIZE_THREAD__
    setenv("TSAN_OPTIONS", "report_thread_leaks=0", 1);  // the program ends at once, with threads that nobody joins any more
#endif
    execl(program.c_str(), program.c_str(), "run", "large.strew", "--time", "--threads", "1", "--input", "large.npy", "at.npy",
          "ones.npy", "--output", "y.npy", nullptr);
    _exit(127);
  }
  // --time calls the kernel again and again, so that it reads its operand after the file was cut, whenever that is.
  const std::string maps = "/proc/" + std::to_string(child) + "/maps";
  const auto mapped = [&] {
    std::ifstream in(maps);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    return text.find("large.npy") != std::string::npos;
  };
  for (int i = 0; i < 60000 && !mapped(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::filesystem::resize_file(path("large.npy"), 4096);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_EQ(read("err.txt"), "error: large.npy: cannot read: it has become shorter while it was in use, or its storage failed\n");
  EXPECT_FALSE(exists("y.npy"));
}

}  // namespace
}  // namespace strew::testing
