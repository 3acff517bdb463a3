// CacheEntry: a file of the disk cache: an object with code, and what it is the code of. The format:
//
//   "strewkc\n", the format's version (4 bytes), 4 bytes of zero, the file's size, when it was written, the object's size (8 bytes each, the lowest
//   byte first), the sizes of the texts (4 bytes each), the texts, the object, and a checksum (XXH3, 16 bytes) of all that is before it
//
// A file that was cut off, that the disk changed, or of which a crash of the system left only a part fails the checksum. The checksum is no
// signature: who may write the file may write any code. Tested by tests/unit/runtime/disk_cache/disk_cache_test.cc and
// tests/fuzz/targets/cache_entry.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "strew/status.h"

namespace strew::inline v0 {

struct CacheEntry {
  // The key.
  std::string symbol;    ///< kernel_symbol() (backends/backend.h)
  std::string build_id;  ///< of the strew that made the object (build_id.h)
  std::string features;  ///< of the CPU, that the code may use: their names in alphabetical order, with commas
  std::string op;  ///< the identity of the op, as text. It is not part of the file's name, because the symbol is a hash of it
  // For those who look into the folder.
  std::string schedule, target, backend;
  int64_t written = 0;  ///< seconds since 1970
  std::string object;

  /// Is this the entry of that key? The symbol is a hash of the op and of more, and the hash is not cryptographic: who can choose ops could make two
  /// with one symbol. So the op itself is compared, too.
  bool has_key_of(const CacheEntry& other) const {
    return symbol == other.symbol && build_id == other.build_id && features == other.features && op == other.op;
  }
  /// The name of the file: 32 hex digits, a hash of symbol, build id and features, and the ending.
  std::string file_name() const;
  /// The bytes of the file.
  std::string encode() const;
  /// invalid_argument: the bytes are no entry, or a damaged one. unsupported: an entry of another format.
  static Expected<CacheEntry> decode(std::string_view bytes);
};

constexpr int64_t kMostEntryBytes = int64_t{64} << 20;
/// Has a file this name because it is an entry, of any version of strew?
bool is_entry_name(std::string_view name);
}  // namespace strew::inline v0
