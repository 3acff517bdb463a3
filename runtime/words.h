// Words: the hash of words, of which there may be any number, in some ten nanoseconds. Tested by tests/unit/runtime/cache_test.cc and site_test.cc.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "strew/text.h"

namespace strew::inline v0 {

/// A buffer of words: the first 256 on the stack, the others on the heap. One put() tests once whether its words fit. What is called often is
/// always inlined: on Zen 4 a look-up by op then takes 116 ns instead of 124.
class Words {
 public:
  template <class... Word>
  [[gnu::always_inline]] void put(Word... words) {
    uint64_t* to = room(sizeof...(words));
    ((*to++ = static_cast<uint64_t>(words)), ...);
  }
  void put(const std::string& text) {
    const size_t count = (text.size() + 7) / 8;
    uint64_t* to = room(1 + count);
    to[0] = text.size();
    if (count == 0) return;
    to[count] = 0;
    std::memcpy(to + 1, text.data(), text.size());
  }
  [[gnu::always_inline]] void put(const std::vector<int64_t>& list) {
    uint64_t* to = room(1 + list.size());
    *to++ = list.size();
    for (int64_t value : list) *to++ = static_cast<uint64_t>(value);
  }
  Hash128 hash() const {
    XXH128_hash_t hash = XXH3_128bits(few_.data(), count_ * sizeof(uint64_t));
    if (!more_.empty()) hash = XXH3_128bits_withSeed(more_.data(), more_.size() * sizeof(uint64_t), hash.low64 ^ hash.high64);
    return {hash.low64, hash.high64};
  }

 private:
  [[gnu::always_inline]] uint64_t* room(size_t count) {
    if (count <= limit_ - count_) {
      uint64_t* to = few_.data() + count_;
      count_ += count;
      return to;
    }
    return more(count);
  }
  [[gnu::noinline]] uint64_t* more(size_t count) {
    limit_ = count_;  // all later words go to the heap too, so that they stay in order
    more_.resize(more_.size() + count);
    return more_.data() + more_.size() - count;
  }

  std::array<uint64_t, 256> few_;
  size_t count_ = 0, limit_ = few_.size();
  std::vector<uint64_t> more_;
};

}  // namespace strew::inline v0
