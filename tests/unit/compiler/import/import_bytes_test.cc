// import_bytes(): what import_file() makes of a file, without the file.
#include "compiler/import/import_bytes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "compiler/import/onnx/onnx.h"
#include "strew/text.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/rule_label.h"

namespace strew {
namespace {

constexpr char kOp[] =
    "strew1.scatter(operand=f32[4,3] indices=i32[2] updates=f32[2,3] update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1)";

TEST(ImportBytes, ReadsNoFile) {
  const Expected<Program> imported = import_bytes(kOp, "no-such-folder/a.strew", {});
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  ASSERT_EQ(imported->kernels().size(), 1u);
  EXPECT_EQ(print(imported->kernel(0).op), kOp);
  EXPECT_EQ(imported->kernel(0).location, "no-such-folder/a.strew:1");
}

TEST(ImportBytes, OverridesAndVerifies) {
  ImportOptions options;
  options.override_oob = true;
  options.oob = OobPolicy::fill_window;
  const Expected<Program> imported = import_bytes(kOp, "a.strew", options);
  ASSERT_FALSE(imported.ok());
  EXPECT_EQ(imported.status().message().rfind("a.strew:1: oob is fill_window", 0), 0u) << imported.status().message();
  EXPECT_EQ(test::rule_label(imported.status().message()), "scatter_policy") << imported.status().message();
}

TEST(ImportBytes, TheEndingMustNameAFormat) {
  for (const char* path : {"", "a", "a.strew2", ".npy", "strew"}) {
    const Expected<Program> imported = import_bytes(kOp, path, {});
    ASSERT_FALSE(imported.ok()) << path;
    EXPECT_EQ(imported.status().code(), Code::invalid_argument);
    EXPECT_EQ(
        imported.status().message(),
        std::string(path) + ": the ending names no known format, expected one of: .onnx, .tflite, .mlir, .mlirbc, .pto, .strew");
  }
}

TEST(ImportBytes, BrokenBytesAreRefusedUnderTheirName) {
  for (const char* path : {"a.onnx", "a.tflite", "a.mlir", "a.mlirbc", "a.pto", "a.strew"}) {
    const Expected<Program> imported = import_bytes("broken", path, {});
    ASSERT_FALSE(imported.ok()) << path;
    EXPECT_EQ(imported.status().message().rfind(path, 0), 0u) << imported.status().message();
  }
}

// Large tables are not copied out of the file, wherever their elements are aligned there; small ones are.
TEST(ImportBytes, LargeConstantsStayInTheFile) {
  using namespace testing;  // NOLINT: the writer of ONNX files
  constexpr int64_t kRows = 1 << 14;
  int shared = 0;
  for (int length = 1; length <= 8; ++length) {
    for (const int64_t rows : {int64_t{4}, kRows}) {
      OnnxModel model = onnx_gather_model("Gather", {rows, 1}, {2});
      std::string raw(static_cast<size_t>(rows) * 4, '\0');
      for (size_t i = 0; i < raw.size(); ++i) raw[i] = static_cast<char>(i % 61);
      model.nodes[0].name = std::string(static_cast<size_t>(length), 'n');  // moves what follows by a byte
      model.nodes[0].inputs[0] = "table";
      model.initializers.push_back({"table", kFloat, {rows, 1}, raw});
      model.inputs.erase(model.inputs.begin());
      const std::string path = ::testing::TempDir() + "strew_" + std::to_string(getpid()) + ".onnx";
      std::ofstream(path, std::ios::binary) << model.bytes();
      const Expected<Program> imported = import_file(path, {});
      unlink(path.c_str());
      ASSERT_TRUE(imported.ok()) << imported.status().message();
      EXPECT_EQ(imported->parts().source, nullptr);
      ASSERT_EQ(imported->constants().size(), 1U);
      const Constant& constant = imported->constant(0);
      ASSERT_EQ(constant.bytes().size(), raw.size());
      EXPECT_EQ(std::memcmp(constant.bytes().data(), raw.data(), raw.size()), 0);
      const bool stays = constant.data.empty();
      EXPECT_EQ(stays, constant.file != nullptr);
      if (rows == kRows) shared += stays ? 1 : 0;
      if (rows != kRows) {
        EXPECT_FALSE(stays);
      }
      // Nobody keeps these bytes.
      const Expected<Program> copied = onnx::import_model(model.bytes(), "m.onnx", {});
      ASSERT_TRUE(copied.ok());
      EXPECT_FALSE(copied->constant(0).data.empty());
    }
  }
  EXPECT_EQ(shared, 2) << "of eight neighbouring places, two are aligned to four bytes";
}

}  // namespace
}  // namespace strew
