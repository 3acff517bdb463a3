// KeyScan: asks a kernel's keys entry for the destinations of index positions. A key is the number of a destination,
// or kDroppedKey. Every strategy that assigns destinations to threads starts with a key scan: owner, radix, runs, and sparse widening
// (runtime/call/wide_sparse).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "runtime/call/call.h"
#include "strew/abi.h"

namespace strew::inline v0 {

/// The key of a position whose update the policy drops.
inline constexpr uint32_t kDroppedKey = std::numeric_limits<uint32_t>::max();

/// `args` must outlive the scan.
class KeyScan {
 public:
  KeyScan(strew_entry keys, const strew_args& args) : keys_(keys), args_(args) {}

  /// Sets keys[i] to the key of position begin + i, for i in [0, count).
  void make(int64_t begin, int64_t count, uint32_t* keys) const {
    strew_args args = args_;
    args.key = keys;
    args.n_list = begin;
    run_entry(keys_, args, begin, begin + count);
  }

  /// Calls visit(begin, count) for each block of `block` positions in [0, positions), in order, with the block's keys in `keys`, which has
  /// room for one block.
  template <class Visit>
  void for_each_block(int64_t positions, int64_t block, uint32_t* keys, const Visit& visit) const {
    for (int64_t begin = 0; begin < positions; begin += block) {
      const int64_t count = std::min(block, positions - begin);
      make(begin, count, keys);
      visit(begin, count);
    }
  }

 private:
  strew_entry keys_;
  const strew_args& args_;
};

}  // namespace strew::inline v0
