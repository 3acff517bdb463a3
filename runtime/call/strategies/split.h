// Split: cuts a range of work into chunks of nearly equal size whose inner borders are multiples of a unit.
//
// The unit keeps each 64-byte line of the result in one chunk, so threads do not share lines (false sharing) where chunks cut through
// contiguous memory.
#pragma once

#include <algorithm>
#include <cstdint>

namespace strew::inline v0 {

struct Split {
  int64_t total = 0;
  int64_t unit = 1;  ///< >= 1
  int chunks = 1;    ///< >= 1; some are empty if there are fewer units than chunks

  int64_t units() const { return total / unit + (total % unit != 0); }
  /// How many chunks are not empty.
  int busy() const { return static_cast<int>(std::min<int64_t>(units(), chunks)); }
  /// Chunk i is [border(i), border(i + 1)).
  int64_t border(int i) const {
    const int64_t count = units(), each = count / chunks, more = count % chunks;
    const int64_t start = each * i + std::min<int64_t>(i, more);
    return start >= count ? total : start * unit;
  }
};

}  // namespace strew::inline v0
