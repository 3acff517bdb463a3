// An out_of_bounds failure of an op, as a sentence: what base/fault_text needs, read off the op.
#pragma once

#include <cstdint>
#include <span>

#include "base/fault_text.h"
#include "strew/op.h"

namespace strew::inline v0 {

FaultRule fault_rule(const Op& op);
/// `index_dims` and `operand_dims` are those of the call.
Status fault_status(const Op& op, const strew_fault& fault, std::span<const int64_t> index_dims,
                    std::span<const int64_t> operand_dims);

}  // namespace strew::inline v0
