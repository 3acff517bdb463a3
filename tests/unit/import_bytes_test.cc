// import_bytes(): what import_file() makes of a file, without the file.
#include "compiler/import/import_bytes.h"

#include <gtest/gtest.h>

#include "strew/text.h"

namespace strew {
namespace {

constexpr char kOp[] =
    "strew1.scatter(operand=f32[4,3] indices=i32[2] updates=f32[2,3] update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1)";

TEST(ImportBytes, ReadsNoFile) {
  const Expected<Imported> imported = import_bytes(kOp, "no-such-folder/a.strew", {});
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  ASSERT_EQ(imported->kernels.size(), 1u);
  EXPECT_EQ(print(imported->kernels[0].op), kOp);
  EXPECT_EQ(imported->kernels[0].location, "no-such-folder/a.strew:1");
}

TEST(ImportBytes, OverridesAndVerifies) {
  ImportOptions options;
  options.override_oob = true;
  options.oob = OobPolicy::fill_window;
  const Expected<Imported> imported = import_bytes(kOp, "a.strew", options);
  ASSERT_FALSE(imported.ok());
  EXPECT_EQ(imported.status().message().rfind("a.strew:1: scatter_policy", 0), 0u) << imported.status().message();
}

TEST(ImportBytes, TheEndingMustNameAFormat) {
  for (const char* path : {"", "a", "a.strew2", ".npy", "strew"}) {
    const Expected<Imported> imported = import_bytes(kOp, path, {});
    ASSERT_FALSE(imported.ok()) << path;
    EXPECT_EQ(imported.status().code(), Code::invalid_argument);
    EXPECT_EQ(
        imported.status().message(),
        std::string(path) + ": the ending names no known format, expected one of: .onnx, .tflite, .mlir, .mlirbc, .pto, .strew");
  }
}

TEST(ImportBytes, BrokenBytesAreRefusedUnderTheirName) {
  for (const char* path : {"a.onnx", "a.tflite", "a.mlir", "a.mlirbc", "a.pto", "a.strew"}) {
    const Expected<Imported> imported = import_bytes("broken", path, {});
    ASSERT_FALSE(imported.ok()) << path;
    EXPECT_EQ(imported.status().message().rfind(path, 0), 0u) << imported.status().message();
  }
}

}  // namespace
}  // namespace strew
