// The checksum of an object: 32 bytes behind the ELF file, which programs that read ELF files do not look at. It finds damage: a flipped bit in an object
// that was shipped is a Status of Runtime::load, and no wrong address in the process. It is no signature: who writes an object may write any code
// (docs/security.md). The linker that makes a program does not copy these bytes; strip, objcopy and ld -r leave them out.
//
//   the text "strew checksum 1", XXH3 (16 bytes, the lowest byte first) of all that is before it and of that text
//
// Tested by tests/unit/backends/damaged_objects_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "strew/status.h"
#include "strew/text.h"

namespace strew::inline v0 {

inline constexpr std::string_view kChecksumMark = "strew checksum 1";
inline constexpr size_t kChecksumBytes = 16;

/// XXH3 of the bytes, the lowest byte first.
inline std::string checksum_of(std::string_view bytes) {
  const Hash128 hash = hash_text(bytes);
  std::string out;
  for (const uint64_t word : {hash.low, hash.high})
    for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>(word >> shift);
  return out;
}

/// The object with its checksum behind it.
inline std::string with_checksum(std::string object) {
  object += kChecksumMark;
  return object += checksum_of(object);
}

/// invalid_argument: the object has no checksum, or it is not that of its bytes.
inline Status check_checksum(std::string_view object) {
  const size_t trailer = kChecksumMark.size() + kChecksumBytes;
  if (object.size() < trailer || object.substr(object.size() - trailer, kChecksumMark.size()) != kChecksumMark)
    return invalid_argument(
        "the object has no checksum at its end: it is damaged, or another program has written it anew; expected the bytes that "
        "`strew "
        "compile --emit obj` or `strew library` wrote (strip, objcopy and ld -r leave the checksum out)");
  const std::string_view content = object.substr(0, object.size() - kChecksumBytes);
  if (checksum_of(content) != object.substr(content.size()))
    return invalid_argument("the object is damaged: its checksum is wrong; compile it again, or copy it again");
  return {};
}

}  // namespace strew::inline v0
