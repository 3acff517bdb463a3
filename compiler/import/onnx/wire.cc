// The part of protobuf's wire format that is needed to walk over a message: tags, varints and lengths, each checked against what is left of
// the message. Groups (wire types 3 and 4) count as damage: ONNX does not use them, and no other construct nests without a length.
//
// Tested by tests/unit/compiler/import/onnx/onnx_import_test.cc (every prefix and every flipped bit of a model) and
// tests/error/onnx_error_test.cc.
#include "compiler/import/onnx/wire.h"

#include <algorithm>

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
  const bool is_varint = field.type == 0, has_length = field.type == 2, is_fixed = field.type == 1 || field.type == 5;
  if (field.number == 0 || !(is_varint || has_length || is_fixed)) return fail();
  if (!is_fixed && !read_varint(value)) return false;
  const uint64_t length = has_length ? value : is_varint ? 0 : field.type == 1 ? 8 : 4;
  if (has_length) field.bytes = rest_.substr(0, static_cast<size_t>(std::min<uint64_t>(length, rest_.size())));
  if (!skip(length)) return false;
  field.whole = start.substr(0, start.size() - rest_.size());
  return true;
}

}  // namespace strew::inline v0::onnx
