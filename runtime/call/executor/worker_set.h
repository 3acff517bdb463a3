// WorkerSet: a set of worker numbers, from which many threads take members and to which they return them without a lock.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "base/machine.h"

namespace strew::inline v0 {

class WorkerSet {
 public:
  static constexpr int kMost = kMostThreads;  ///< worker numbers are smaller than this

  /// Takes up to `wanted` members, the smallest, and appends them to `ids`. Returns how many it took.
  int take(int wanted, uint16_t* ids) {
    int taken = 0;
    for (size_t word = 0; word < kWords && taken < wanted; ++word) {
      uint64_t here = words_[word].load(std::memory_order_relaxed);
      if (here == 0) continue;
      uint64_t want = 0;
      for (int n = taken; here != 0 && n < wanted; ++n, here &= here - 1) want |= here & (~here + 1);
      uint64_t got = words_[word].fetch_and(~want, std::memory_order_seq_cst) & want;
      for (; got != 0; got &= got - 1)
        ids[taken++] = static_cast<uint16_t>(word * 64 + static_cast<size_t>(std::countr_zero(got)));
    }
    return taken;
  }
  /// Removes `id`. Returns false if it was not in the set.
  bool remove(int id) { return (word_of(id).fetch_and(~bit_of(id), std::memory_order_seq_cst) & bit_of(id)) != 0; }
  void add(int id) { word_of(id).fetch_or(bit_of(id), std::memory_order_seq_cst); }
  /// Adds `ids`, which must ascend.
  void add(const uint16_t* ids, int count) {
    for (int i = 0; i < count;) {
      const int word = ids[i] / 64;
      uint64_t bits = 0;
      for (; i < count && ids[i] / 64 == word; ++i) bits |= bit_of(ids[i]);
      words_[static_cast<size_t>(word)].fetch_or(bits, std::memory_order_seq_cst);
    }
  }
  void clear() {
    for (auto& word : words_) word.store(0);
  }

 private:
  static constexpr size_t kWords = kMost / 64;
  static uint64_t bit_of(int id) { return uint64_t{1} << (id % 64); }
  std::atomic<uint64_t>& word_of(int id) { return words_[static_cast<size_t>(id / 64)]; }

  std::array<std::atomic<uint64_t>, kWords> words_{};
};

}  // namespace strew::inline v0
