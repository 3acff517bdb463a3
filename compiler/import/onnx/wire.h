// WireReader: the fields of one protobuf message, in file order, without a copy. Large files are walked with it so that protobuf itself
// only ever parses the small messages somebody asks for.
#pragma once

#include <cstdint>
#include <string_view>

namespace strew::onnx {

struct WireField {
  uint64_t number = 0;
  uint8_t type = 0;        ///< 0 varint, 1 eight bytes, 2 length-delimited, 5 four bytes
  std::string_view bytes;  ///< length-delimited: the contents; else empty
  std::string_view whole;  ///< with its tag
  bool is_message(uint64_t n) const { return number == n && type == 2; }
};

class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}

  /// The next field; false at the end of the message and where it is damaged.
  bool next(WireField& field);
  bool damaged() const { return damaged_; }

 private:
  bool read_varint(uint64_t& value);
  bool skip(uint64_t bytes);
  bool fail();

  std::string_view rest_;
  bool damaged_ = false;
};

}  // namespace strew::onnx
