// BadIndex: the index that made a call fail with Code::out_of_bounds, as numbers. The status's message has the same as a sentence.
#pragma once

#include <cstdint>

namespace strew::inline v0 {

/// The first bad index of a call by position, and at that position by component.
struct BadIndex {
  int32_t source = -1;    ///< which tensor of the call, counted as the call binds them, held the index
  int64_t position = 0;   ///< row-major number of the index position
  int64_t component = 0;  ///< which entry of the index vector
  int64_t value = 0;      ///< the index as the caller gave it, before negatives are normalised; of u64 indices: its bits
  int64_t bound = 0;      ///< the largest legal value; -1: there is none, because the dim is empty

  friend bool operator==(const BadIndex&, const BadIndex&) = default;
};

}  // namespace strew::inline v0
