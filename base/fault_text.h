// The sentence of an out_of_bounds failure, the same whichever backend found the bad index.
#pragma once

#include <cstdint>
#include <span>

#include "strew/abi.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// What an op's indices mean, as far as the sentence tells it.
struct FaultRule {
  bool gather = false;           ///< "index position", of a scatter "update position"
  bool counts_from_end = false;  ///< a negative value v stands for v + dim
  bool is_u64 = false;           ///< of the indices: strew_fault.value holds the bits
};

/// `position_dims`: those of the indices without the index vector; `dim`: the extent that the bad component indexes. "index out of bounds:
/// update position [1,2] (linear 5), component 0: value 9, expected 0 <= v <= 7"; where values count from the end, the negative range is
/// stated too.
Status fault_status(const FaultRule& rule, const strew_fault& fault, std::span<const int64_t> position_dims, int64_t dim);

}  // namespace strew::inline v0
