// The part of protobuf's wire format that is needed to walk over a message: tags, varints and lengths, each checked against what is left of
// the message. Groups (wire types 3 and 4) count as damage: ONNX does not use them, and no other construct nests without a length.
//
// Tested by tests/unit/compiler/import/onnx/onnx_import_test.cc (every prefix and every flipped bit of a model) and
// tests/error/onnx_error_test.cc.
#include "compiler/import/onnx/wire.h"

namespace strew::inline v0::onnx {

bool WireReader::fail() {
  damaged_ = true;
  rest_ = {};
  return false;
}

bool WireReader::read_varint(uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) return fail();
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return fail();
}

bool WireReader::skip(uint64_t bytes) {
  if (bytes > rest_.size()) return fail();
  rest_.remove_prefix(static_cast<size_t>(bytes));
  return true;
}

bool WireReader::next(WireField& field) {
  if (rest_.empty()) return false;
  const std::string_view start = rest_;
  uint64_t tag = 0, value = 0;
  if (!read_varint(tag)) return false;
  field = {tag >> 3, static_cast<uint8_t>(tag & 7), {}, {}};
  bool good = field.number != 0;
  switch (field.type) {
    case 0:
      good = good && read_varint(value);
      break;
    case 1:
      good = good && skip(8);
      break;
    case 2: {
      good = good && read_varint(value);
      const std::string_view contents = rest_;
      good = good && skip(value);
      if (good) field.bytes = contents.substr(0, static_cast<size_t>(value));
      break;
    }
    case 5:
      good = good && skip(4);
      break;
    default:
      good = false;
  }
  if (!good) return fail();
  field.whole = start.substr(0, start.size() - rest_.size());
  return true;
}

}  // namespace strew::inline v0::onnx
