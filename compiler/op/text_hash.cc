// The 128-bit hash of canonical text: XXH3, which gives the same value in all its versions and on all machines. Tested by
// tests/unit/compiler/op/op_text_test.cc, which pins values.
#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include "strew/text.h"

namespace strew::inline v0 {

Hash128 hash_text(std::string_view canonical) {
  const XXH128_hash_t h = XXH3_128bits(canonical.data(), canonical.size());
  return {h.low64, h.high64};
}

std::string to_hex(Hash128 hash) { return fmt::format("{:016x}{:016x}", hash.high, hash.low); }

}  // namespace strew::inline v0
