// Cli: a test that drives the built program as a subprocess, in a folder of its own, so that what a user sees is what is tested.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/paths.h"
#include "tools/npy.h"

namespace strew::testing {

struct Outcome {
  int exit = -1;  ///< 128: ended by a signal
  std::string out, err;
};

class Cli : public ::testing::Test {
 protected:
  static constexpr const char* kScatterText =
      "strew1.scatter(operand=f32[4] indices=i32[2] updates=f32[2] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
      "index_vector_dim=1 combiner=add oob=error)";

  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "strew_cli_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    write("kv.onnx", tensor_scatter_model().bytes());
    write("add.strew", std::string("# two updates\n\n") + kScatterText + "\n");
    write_tensor("past.npy", DType::f32, {2, 4, 3}, {});
    write_tensor("update.npy", DType::f32, {2, 2, 3}, {});
    write_indices("indices.npy", {1, 2});
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& bytes) const { std::ofstream(path(name), std::ios::binary) << bytes; }
  std::string read(const std::string& name) const { return read_file(path(name), 1 << 26).value(); }
  void write_tensor(const std::string& name, DType dtype, std::vector<int64_t> dims, const std::string& bytes) const {
    Tensor t = std::move(make_tensor(dtype, std::move(dims)).value());
    std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size(), t.data.data());
    write(name, format_npy(t).value());
  }
  void write_indices(const std::string& name, std::vector<int64_t> values) const {
    write_tensor(name, DType::i64, {static_cast<int64_t>(values.size())},
                 std::string(reinterpret_cast<const char*>(values.data()), 8 * values.size()));
  }
  bool exists(const std::string& name) const { return std::filesystem::exists(path(name)); }
  /// Whether a file that only a running program may have is there.
  bool has_temporary() const {
    const auto names = std::filesystem::directory_iterator(folder_);
    return std::any_of(begin(names), end(names),
                       [](const auto& e) { return e.path().string().find(".tmp") != std::string::npos; });
  }

  /// Runs in the test's folder, so that arguments are plain file names. `before`: shell text in front of the program's name.
  Outcome strew(const std::string& arguments, const std::string& before = "") const {
    const std::string command = "cd '" + folder_.string() + "' && (" + before + " '" + test::built_program("strew") + "' " +
                                arguments + ") >out.txt 2>err.txt";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, read("out.txt"), read("err.txt")};
  }

  /// One line on stderr, nothing on stdout, and that exit status.
  std::string failure(int exit, const std::string& arguments, const std::string& before = "") const {
    const Outcome o = strew(arguments, before);
    EXPECT_EQ(o.exit, exit) << arguments << "\n" << o.err;
    EXPECT_THAT(o.out, ::testing::IsEmpty()) << arguments;
    EXPECT_THAT(o.err, ::testing::StartsWith("error: ")) << arguments;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    EXPECT_FALSE(exists("y.npy")) << arguments;
    EXPECT_FALSE(exists("y.s")) << arguments;
    EXPECT_FALSE(has_temporary()) << "a temporary file was left";
    return o.err;
  }

  std::string success(const std::string& arguments, const std::string& before = "") const {
    const Outcome o = strew(arguments, before);
    EXPECT_EQ(o.exit, 0) << arguments << "\n" << o.err;
    EXPECT_THAT(o.err, ::testing::IsEmpty()) << arguments;
    return o.out;
  }

  static constexpr const char* kRun = "run kv.onnx --backend reference --input past.npy update.npy indices.npy --output y.npy";
  std::filesystem::path folder_;
};

}  // namespace strew::testing
