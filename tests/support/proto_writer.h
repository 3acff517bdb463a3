// ProtoWriter: protobuf's wire format by hand, so that tests can write ONNX files, broken ones too, without ONNX or protobuf.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace strew::testing {

class ProtoWriter {
 public:
  ProtoWriter& varint(int field, uint64_t value) {
    tag(field, 0);
    raw_varint(value);
    return *this;
  }
  ProtoWriter& text(int field, std::string_view bytes) {
    tag(field, 2);
    raw_varint(bytes.size());
    out_ += bytes;
    return *this;
  }
  ProtoWriter& message(int field, const ProtoWriter& inner) { return text(field, inner.out_); }
  ProtoWriter& float32(int field, float value) {
    tag(field, 5);
    char bytes[4];
    std::memcpy(bytes, &value, 4);
    out_.append(bytes, 4);
    return *this;
  }
  ProtoWriter& packed(int field, const std::vector<int64_t>& values) {
    ProtoWriter inner;
    for (int64_t v : values) inner.raw_varint(static_cast<uint64_t>(v));
    return text(field, inner.out_);
  }
  /// Fields already encoded.
  ProtoWriter& append(std::string_view bytes) {
    out_ += bytes;
    return *this;
  }
  const std::string& bytes() const { return out_; }

 private:
  void tag(int field, int wire) { raw_varint(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(wire)); }
  void raw_varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_ += static_cast<char>(value | 0x80);
    out_ += static_cast<char>(value);
  }
  std::string out_;
};

}  // namespace strew::testing
