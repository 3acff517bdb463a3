// External data of ONNX tensors: read from beside the model, and every way it may not be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "strew/import.h"
#include "strew/run_program.h"
#include "tests/support/onnx_writer.h"

namespace strew::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class OnnxExternal : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/strew_external_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root_ = name;
    fs::create_directories(root_ / "model" / "sub");
    write("model/w.bin", std::string(8, '\xFF') + std::string("\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 16));
    write("model/sub/w.bin", std::string(16, '\0'));
    write("outside.bin", std::string(16, '\0'));
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& bytes) { std::ofstream(root_ / name, std::ios::binary) << bytes; }

  /// Imports a Gather whose indices, i64[2], lie outside the model as `entries` say.
  Expected<Program> import(const std::vector<std::pair<std::string, std::string>>& entries, std::vector<int64_t> dims = {2},
                           int type = kInt64) {
    OnnxModel model = onnx_gather_model("Gather", {4, 3}, {2});
    model.inputs.pop_back();
    OnnxTensor tensor{"indices", type, std::move(dims), "", {}, false};
    for (const auto& [key, value] : entries)
      tensor.more.push_back(ProtoWriter().message(13, ProtoWriter().text(1, key).text(2, value)));
    tensor.more.push_back(ProtoWriter().varint(14, 1));
    model.initializers = {tensor};
    const fs::path path = root_ / "model" / "m.onnx";
    std::ofstream(path, std::ios::binary) << model.bytes();
    return import_file(path.string(), {});
  }
  std::string error_of(const std::vector<std::pair<std::string, std::string>>& entries, std::vector<int64_t> dims = {2}) {
    const Expected<Program> out = import(entries, std::move(dims));
    EXPECT_FALSE(out.ok());
    EXPECT_THAT(out.status().message(), HasSubstr("m.onnx: initializer indices: "));
    return out.status().message();
  }

  fs::path root_;
};

TEST_F(OnnxExternal, ReadsItsBytesAtItsOffset) {
  const Expected<Program> out = import({{"location", "w.bin"}, {"offset", "8"}, {"length", "16"}, {"checksum", "abc"}});
  ASSERT_TRUE(out.ok()) << out.status().message();
  ASSERT_EQ(out->constants().size(), 1u);
  int64_t data[2];
  ASSERT_EQ(out->constant(0).data.size(), sizeof data);
  std::memcpy(data, out->constant(0).data.data(), sizeof data);
  EXPECT_THAT(data, ElementsAre(1, 2));
}

TEST_F(OnnxExternal, OffsetAndLengthMayBeLeftOutAndFoldersUsed) {
  for (const char* location : {"w.bin", "./w.bin", "sub/w.bin"}) {
    const Expected<Program> out = import({{"location", location}});
    EXPECT_TRUE(out.ok()) << location << ": " << out.status().message();
  }
}

TEST_F(OnnxExternal, LargeFloatsAreMappedAndIntegersRead) {
  constexpr int64_t kRows = int64_t{1} << 18;
  for (const int type : {kFloat, kInt64}) {
    std::string bytes(static_cast<size_t>((type == kFloat ? 4 : 8) * kRows), '\0');
    const float last = 2.5f;
    std::memcpy(bytes.data() + bytes.size() - 4, &last, 4);
    write("model/weights.bin", "junk" + bytes);
    OnnxModel model = onnx_gather_model("Gather", {kRows}, {2});
    const std::string data = model.nodes[0].inputs[0];
    OnnxTensor weights{data, type, {kRows}, "", {}, false};
    weights.more = {ProtoWriter().message(13, ProtoWriter().text(1, "location").text(2, "weights.bin")),
                    ProtoWriter().message(13, ProtoWriter().text(1, "offset").text(2, "4")), ProtoWriter().varint(14, 1)};
    model.inputs.erase(model.inputs.begin());
    model.outputs[0].type = type;
    model.initializers = {weights};
    std::ofstream(root_ / "model" / "m.onnx", std::ios::binary) << model.bytes();
    const Expected<Program> out = import_file((root_ / "model" / "m.onnx").string(), {});
    ASSERT_TRUE(out.ok()) << out.status().message();
    const Constant& constant = out->constants().at(0);
    EXPECT_EQ(constant.data.empty(), type == kFloat);
    EXPECT_EQ(constant.mapped.empty(), type != kFloat);
    ASSERT_EQ(constant.bytes().size(), bytes.size());
    EXPECT_EQ(std::memcmp(constant.bytes().data(), bytes.data(), bytes.size()), 0);
    if (type != kFloat) continue;
    auto indices = std::make_unique<Tensor>(make_tensor(DType::i64, {2}).value());
    const int64_t at[] = {0, kRows - 1};
    std::memcpy(indices->data.data(), at, sizeof at);
    std::vector<std::unique_ptr<Tensor>> inputs;
    inputs.push_back(std::move(indices));
    const auto results = run_program(Runtime::process(), *out, std::move(inputs), {});
    ASSERT_TRUE(results.ok()) << results.status().message();
    EXPECT_EQ(reinterpret_cast<const float*>(results->at(0).data.data())[1], 2.5f);
  }
}

TEST_F(OnnxExternal, WhatNothingUsesIsNotOpened) {
  OnnxModel model = onnx_gather_model("Gather", {4, 3}, {2});
  OnnxTensor weights{"weights", kFloat, {1000}, "", {}, false};
  weights.more = {ProtoWriter().message(13, ProtoWriter().text(1, "location").text(2, "absent.bin")).varint(14, 1)};
  model.initializers = {weights};
  std::ofstream(root_ / "model" / "m.onnx", std::ios::binary) << model.bytes();
  EXPECT_TRUE(import_file((root_ / "model" / "m.onnx").string(), {}).ok());
}

TEST_F(OnnxExternal, RefusesPathsThatLeaveTheFolder) {
  EXPECT_THAT(error_of({{"location", "../outside.bin"}}), HasSubstr("location is '../outside.bin', which has '..'"));
  EXPECT_THAT(error_of({{"location", "sub/../../outside.bin"}}), HasSubstr("which has '..'"));
  EXPECT_THAT(error_of({{"location", (root_ / "outside.bin").string()}}), HasSubstr("which is absolute"));
  EXPECT_THAT(error_of({{"location", ""}}), HasSubstr("expected the name of a file"));
  EXPECT_THAT(error_of({{"location", std::string("w.bin\0x", 7)}}), HasSubstr("expected the name of a file"));
  fs::create_symlink("../outside.bin", root_ / "model" / "link.bin");
  EXPECT_THAT(error_of({{"location", "link.bin"}}), HasSubstr("a symbolic link that leaves the model's folder"));
  fs::create_symlink("..", root_ / "model" / "up");
  EXPECT_THAT(error_of({{"location", "up/outside.bin"}}), HasSubstr("a symbolic link that leaves the model's folder"));
  fs::create_symlink("w.bin", root_ / "model" / "inside.bin");
  EXPECT_TRUE(import({{"location", "inside.bin"}}).ok());
}

TEST_F(OnnxExternal, RefusesWhatIsNotAPlainFile) {
  EXPECT_THAT(error_of({{"location", "sub"}}), HasSubstr("it is a directory, expected a regular file"));
  ASSERT_EQ(mkfifo((root_ / "model" / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(error_of({{"location", "pipe"}}), HasSubstr("it is a pipe, expected a regular file"));
  EXPECT_THAT(error_of({{"location", "absent.bin"}}), HasSubstr("location is 'absent.bin': cannot read: No such file"));
}

TEST_F(OnnxExternal, RefusesLiesAboutSizes) {
  EXPECT_THAT(error_of({{"location", "w.bin"}, {"offset", "9"}}), HasSubstr("the file has 24 bytes, expected 16 at offset 9"));
  EXPECT_THAT(error_of({{"location", "w.bin"}, {"offset", "9223372036854775807"}}), HasSubstr("the file has 24 bytes"));
  EXPECT_THAT(error_of({{"location", "w.bin"}, {"offset", "9223372036854775808"}}), HasSubstr("offset is '9223372036854775808'"));
  EXPECT_THAT(error_of({{"location", "w.bin"}, {"offset", "-1"}}), HasSubstr("offset is '-1', expected a number from 0"));
  EXPECT_THAT(error_of({{"location", "w.bin"}, {"offset", "8x"}}), HasSubstr("offset is '8x'"));
  EXPECT_THAT(error_of({{"location", "w.bin"}, {"length", "15"}}), HasSubstr("length is 15, expected 16"));
  EXPECT_THAT(error_of({{"location", "w.bin"}, {"location", "w.bin"}}), HasSubstr("two entries 'location'"));
  EXPECT_THAT(error_of({{"offset", "8"}}), HasSubstr("without a location"));
  EXPECT_THAT(error_of({{"location", "w.bin"}}, {int64_t{1} << 50}), HasSubstr("does not fit this machine's memory"));
  EXPECT_THAT(error_of({{"location", "w.bin"}}, {int64_t{1} << 20}), HasSubstr("the file has 24 bytes"));
  EXPECT_THAT(error_of(std::vector<std::pair<std::string, std::string>>(100, {"k", "v"})), HasSubstr("more than 64 entries"));
  EXPECT_THAT(import({{"location", "w.bin"}}, {2}, kString).status().message(), HasSubstr("strings are in external data"));
}

}  // namespace
}  // namespace strew::testing
