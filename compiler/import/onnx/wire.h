// WireReader: iterates over the fields of one protobuf message in file order, without copying. Large files are walked with it, so that
// protobuf itself parses only the small messages that are used.
#pragma once

#include <cstdint>
#include <string_view>

namespace strew::inline v0::onnx {

struct WireField {
  uint64_t number = 0;
  uint8_t type = 0;        ///< 0: varint, 1: eight bytes, 2: length-delimited, 5: four bytes
  std::string_view bytes;  ///< the contents of a length-delimited field; otherwise empty
  std::string_view whole;  ///< the field with its tag
  bool is_message(uint64_t n) const { return number == n && type == 2; }
};

class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}

  /// Reads the next field. Returns false at the end of the message and at damaged data; damaged() tells which.
  bool next(WireField& field);
  bool damaged() const { return damaged_; }

 private:
  bool read_varint(uint64_t& value);
  bool skip(uint64_t bytes);
  bool fail();

  std::string_view rest_;
  bool damaged_ = false;
};

}  // namespace strew::inline v0::onnx
