// See entry.h.
#include "runtime/disk_cache/entry.h"

#include <array>

#include "base/printable.h"
#include "strew/text.h"

namespace strew::inline v0 {
namespace {

constexpr std::string_view kMagic = "strewkc\n";
constexpr uint32_t kEntryFormat = 1;
constexpr size_t kTexts = 7;
constexpr size_t kHeaderBytes = 8 + 4 + 4 + 8 + 8 + 8 + 4 * kTexts;
constexpr size_t kChecksumBytes = 16;
constexpr std::string_view kEnding = ".kernel";
constexpr size_t kHexDigits = 32;

void append(std::string& out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

/// Takes a number from the front of the header.
uint64_t take(std::string_view& bytes, size_t count) {
  uint64_t out = 0;
  for (size_t i = 0; i < count; ++i) out |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  bytes.remove_prefix(count);
  return out;
}

std::string checksum(std::string_view bytes) {
  const Hash128 hash = hash_text(bytes);
  std::string out;
  append(out, hash.low, 8);
  append(out, hash.high, 8);
  return out;
}

/// The texts in the order of the file.
template <class Entry>
auto texts_of(Entry& e) {
  return std::array{&e.symbol, &e.build_id, &e.features, &e.op, &e.schedule, &e.target, &e.backend};
}

}  // namespace

std::string CacheEntry::file_name() const {
  return to_hex(hash_text(symbol + "\n" + build_id + "\n" + features)) + std::string(kEnding);
}

std::string CacheEntry::encode() const {
  const auto texts = texts_of(*this);
  size_t size = kHeaderBytes + object.size() + kChecksumBytes;
  for (const std::string* text : texts) size += text->size();
  std::string out;
  out.reserve(size);
  out += kMagic;
  append(out, kEntryFormat, 4);
  append(out, 0, 4);
  append(out, size, 8);
  append(out, static_cast<uint64_t>(written), 8);
  append(out, object.size(), 8);
  for (const std::string* text : texts) append(out, text->size(), 4);
  for (const std::string* text : texts) out += *text;
  out += object;
  return out += checksum(out);
}

Expected<CacheEntry> CacheEntry::decode(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return invalid_argument("it is no kernel of strew's");
  if (bytes.size() < kHeaderBytes + kChecksumBytes) return invalid_argument("it is cut off");
  std::string_view header = bytes.substr(kMagic.size(), kHeaderBytes - kMagic.size());
  if (take(header, 4) != kEntryFormat) return unsupported("it has the format of another version of strew");
  if (take(header, 4) != 0) return invalid_argument("its header is damaged");
  if (take(header, 8) != bytes.size()) return invalid_argument("it has another size than it says");
  const std::string_view content = bytes.substr(0, bytes.size() - kChecksumBytes);
  if (checksum(content) != bytes.substr(content.size())) return invalid_argument("its checksum is wrong");
  CacheEntry out;
  out.written = static_cast<int64_t>(take(header, 8));
  const uint64_t object_bytes = take(header, 8);
  std::string_view rest = content.substr(kHeaderBytes);
  for (std::string* text : texts_of(out)) {
    const uint64_t size = take(header, 4);
    if (size > rest.size()) return invalid_argument("its texts are longer than the file");
    *text = rest.substr(0, size);
    rest.remove_prefix(size);
  }
  if (object_bytes != rest.size()) return invalid_argument("its object has another size than it says");
  out.object = rest;
  return out;
}

bool is_entry_name(std::string_view name) {
  return name.size() == kHexDigits + kEnding.size() && name.ends_with(kEnding) && is_hex(name.substr(0, kHexDigits));
}

}  // namespace strew::inline v0
