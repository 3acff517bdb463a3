// The message about an out-of-bounds index, for an op: extracts from the op what base/fault_text needs. Tested by
// tests/unit/backends/kernel_test.cc.
#pragma once

#include <cstdint>
#include <span>

#include "base/fault_text.h"
#include "strew/verified.h"

namespace strew::inline v0 {

/// `source`, `component`: of strew_fault. Source 0 is the op's own indices, 1 and on are those of its look-ups, in their order.
FaultRule fault_rule(const Op& op, int64_t source, int64_t component);
/// The status with code out_of_bounds for `fault`. `index_dims` and `operand_dims`: extents at the call of the source's index tensor, and of the tensor
/// that it indexes.
Status fault_status(const VerifiedOp& op, const strew_fault& fault, std::span<const int64_t> index_dims,
                    std::span<const int64_t> operand_dims);

}  // namespace strew::inline v0
