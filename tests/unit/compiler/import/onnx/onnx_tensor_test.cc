// TensorProto -> Constant: every way ONNX stores elements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "compiler/import/onnx/tensor_proto.h"
#include "strew/text.h"
#include "tests/support/onnx_writer.h"

namespace strew::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A tensor whose elements are in one typed field.
OnnxTensor typed(int type, std::vector<int64_t> dims, ProtoWriter field) {
  return {"t", type, std::move(dims), "", {std::move(field)}, false};
}

Constant read_good(const OnnxTensor& tensor) {
  Expected<Constant> out = onnx::parse_tensor(tensor.proto().bytes(), "t.pb");
  EXPECT_TRUE(out.ok()) << out.status().message();
  return out.ok() ? std::move(*out) : Constant{};
}

std::vector<int> bytes_of(const Constant& constant) {
  std::vector<int> out;
  for (std::byte b : constant.data) out.push_back(static_cast<int>(b));
  return out;
}

std::string error_of(const OnnxTensor& tensor) {
  const Expected<Constant> out = onnx::parse_tensor(tensor.proto().bytes(), "t.pb");
  EXPECT_FALSE(out.ok());
  return out.status().message();
}

TEST(OnnxTensor, RawBytesAreTakenAsTheyAre) {
  const Constant c = read_good({"t", kBfloat16, {2, 1}, "abcd"});
  EXPECT_EQ(print(c.type), "bf16[2,1]");
  EXPECT_THAT(bytes_of(c), ElementsAre('a', 'b', 'c', 'd'));
}

TEST(OnnxTensor, NarrowTypesInInt32Data) {
  EXPECT_THAT(bytes_of(read_good(typed(kBfloat16, {2}, ProtoWriter().packed(5, {0x3F80, 0xC000})))),
              ElementsAre(0x80, 0x3F, 0, 0xC0));
  EXPECT_THAT(bytes_of(read_good(typed(17, {3}, ProtoWriter().packed(5, {0x7F, 0xFF, 1})))), ElementsAre(0x7F, 0xFF, 1));
  EXPECT_THAT(bytes_of(read_good(typed(3, {2}, ProtoWriter().packed(5, {-1, 5})))), ElementsAre(0xFF, 5));
  EXPECT_THAT(bytes_of(read_good(typed(kBool, {3}, ProtoWriter().packed(5, {0, 1, 2})))), ElementsAre(0, 1, 1));
}

TEST(OnnxTensor, FourBitTypesAreTwoToAByte) {
  for (const int type : {kUint4, kInt4, kFloat4}) {
    EXPECT_THAT(bytes_of(read_good(typed(type, {3}, ProtoWriter().packed(5, {0x21, 0xF3})))), ElementsAre(0x21, 0x03))
        << "the unused nibble is cleared";
    EXPECT_THAT(bytes_of(read_good({"t", type, {3}, "\x21\xF3"})), ElementsAre(0x21, 0x03));
  }
}

TEST(OnnxTensor, SixBitTypesTakeAByte) {
  for (const int type : {27, 28}) {
    EXPECT_THAT(bytes_of(read_good(typed(type, {5}, ProtoWriter().packed(5, {1, 2, 3, 0x3F, 0x20})))),
                ElementsAre(1, 2, 3, 0x3F, 0x20));
    EXPECT_THAT(bytes_of(read_good(typed(type, {1}, ProtoWriter().packed(5, {0xC1})))), ElementsAre(1))
        << "bits above are cleared";
    // A stream of six bits each: 000001 | 000010 << 6 | 000011 << 12 | 111111 << 18, and 100000 in a byte of its own.
    EXPECT_THAT(bytes_of(read_good({"t", type, {5}, std::string("\x81\x30\xFC\x20")})), ElementsAre(1, 2, 3, 0x3F, 0x20));
    EXPECT_THAT(bytes_of(read_good({"t", type, {2}, std::string("\x81\x00", 2)})), ElementsAre(1, 2));
    EXPECT_THAT(error_of({"t", type, {4}, "abcd"}), HasSubstr("raw_data has 4 bytes, expected 3 for 4 elements"));
  }
}

TEST(OnnxTensor, WideTypes) {
  EXPECT_EQ(bytes_of(read_good(typed(kInt64, {1}, ProtoWriter().packed(7, {-2})))).at(0), 0xFE);
  EXPECT_THAT(bytes_of(read_good(typed(12, {1}, ProtoWriter().packed(11, {0x01020304})))), ElementsAre(4, 3, 2, 1));
  const Constant complex = read_good(typed(14, {1}, ProtoWriter().float32(4, 1.0f).float32(4, 2.0f)));
  float parts[2];
  ASSERT_EQ(complex.data.size(), sizeof parts);
  std::memcpy(parts, complex.data.data(), sizeof parts);
  EXPECT_THAT(parts, ElementsAre(1.0f, 2.0f));
}

TEST(OnnxTensor, Strings) {
  const Constant c = read_good(typed(kString, {2}, ProtoWriter().text(6, "ab").text(6, "")));
  EXPECT_THAT(c.strings, ElementsAre("ab", ""));
}

TEST(OnnxTensor, EmptyTensorsAndScalars) {
  EXPECT_TRUE(read_good({"t", kFloat, {0, 7}, ""}).data.empty());
  EXPECT_EQ(read_good({"t", kFloat, {}, "abcd"}).data.size(), 4u);
}

TEST(OnnxTensor, Refusals) {
  EXPECT_EQ(error_of({"t", kFloat, {2}, "abcd"}), "t.pb: raw_data has 4 bytes, expected 8 for 2 elements of f32");
  EXPECT_THAT(error_of({"t", kString, {1}, "abcd"}), HasSubstr("strings are in raw_data"));
  EXPECT_THAT(error_of({"t", 0, {1}, "abcd"}), HasSubstr("element type is 0"));
  EXPECT_THAT(error_of({"t", kFloat, {-1}, "abcd"}), HasSubstr("dim 0 is -1, expected at least 0"));
  EXPECT_THAT(error_of({"t", kFloat, {1}, "abcd", {ProtoWriter().float32(4, 1.0f)}}),
              HasSubstr("more than one data field is filled"));
  EXPECT_THAT(error_of({"t", kFloat, std::vector<int64_t>(5000, 1), "abcd"}), HasSubstr("rank is 5000"));
  EXPECT_THAT(onnx::parse_tensor("\x0a\xff", "t.pb").status().message(), HasSubstr("not a TensorProto"));
}

}  // namespace
}  // namespace strew::testing
