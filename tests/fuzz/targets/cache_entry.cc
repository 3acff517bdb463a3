// Fuzz target cache_entry: a file of the disk cache. What is read writes to the same bytes. The checksum would stop nearly all inputs at once, so
// the target also reads the input with the checksum that is right for it.
#include <cstddef>
#include <cstdint>

#include "runtime/disk_cache/entry.h"
#include "strew/text.h"
#include "tests/fuzz/check.h"

namespace strew::fuzz {
namespace {

void check_entry(const std::string& bytes) {
  const Expected<CacheEntry> entry = CacheEntry::decode(bytes);
  if (!entry.ok()) return check_refusal(entry.status());
  if (entry->encode() != bytes) broken("an entry changes when it is written again");
}

/// The input with its last 16 bytes replaced by the checksum of those before, and its size in the header.
std::string repaired(std::string bytes) {
  constexpr size_t kChecksum = 16, kSizeAt = 16;
  if (bytes.size() < kSizeAt + 8 + kChecksum) return bytes;
  const auto put = [&](size_t at, uint64_t value) {
    for (size_t i = 0; i < 8; ++i) bytes[at + i] = static_cast<char>(value >> (8 * i));
  };
  put(kSizeAt, bytes.size());
  const Hash128 hash = hash_text(std::string_view(bytes).substr(0, bytes.size() - kChecksum));
  put(bytes.size() - kChecksum, hash.low);
  put(bytes.size() - kChecksum + 8, hash.high);
  return bytes;
}

}  // namespace
}  // namespace strew::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  strew::fuzz::check_entry(bytes);
  strew::fuzz::check_entry(strew::fuzz::repaired(bytes));
  return 0;
}
