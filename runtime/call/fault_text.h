// The sentence of an out_of_bounds failure, the same whichever backend found the bad index.
#pragma once

#include <cstdint>
#include <span>

#include "base/status.h"
#include "compiler/op/op.h"
#include "strew/abi.h"

namespace strew {

/// `index_dims` and `operand_dims` are those of the call. "index out of bounds: update position [1,2] (linear 5), component 0:
/// value 9, expected 0 <= v <= 7"; gathers say index position; with normalize_negative the negative range is stated too.
Status fault_status(const Op& op, const strew_fault& fault, std::span<const int64_t> index_dims,
                    std::span<const int64_t> operand_dims);

}  // namespace strew
