// Key scan: asks a kernel's keys entry where positions go. A key is a destination, in units of strew_kernel.key_bytes, or kDroppedKey.
// Whatever deals destinations out to threads starts with it: the strategies owner, radix and runs, and runtime/call/wide_sparse.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "strew/abi.h"

namespace strew {

/// The key of a position that the policy drops.
inline constexpr uint32_t kDroppedKey = std::numeric_limits<uint32_t>::max();

/// `args` must outlive it. Nothing can fault: policy error has checked all indices before, the other policies place or drop them.
class KeyScan {
 public:
  KeyScan(strew_entry keys, const strew_args& args) : keys_(keys), args_(args) {}

  /// keys[i]: where position begin + i goes, for i in [0, count).
  void make(int64_t begin, int64_t count, uint32_t* keys) const {
    strew_args args = args_;
    args.key = keys;
    args.n_list = begin;
    strew_fault unused;
    keys_(&args, begin, begin + count, &unused);
  }

  /// visit(begin, count) once for each block of `block` positions in [0, positions), in order, with their keys in `keys`, which has room
  /// for a block.
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

}  // namespace strew
