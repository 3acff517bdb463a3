// The message about an out-of-bounds index, for an op: extracts from the op what base/fault_text needs. Tested by
// tests/unit/backends/kernel_test.cc.
#pragma once

#include <cstdint>
#include <span>

#include "base/fault_text.h"
#include "strew/verified.h"

namespace strew::inline v0 {

FaultRule fault_rule(const Op& op);
/// The status with code out_of_bounds for `fault`. `index_dims` and `operand_dims`: extents at the call.
Status fault_status(const VerifiedOp& op, const strew_fault& fault, std::span<const int64_t> index_dims,
                    std::span<const int64_t> operand_dims);

}  // namespace strew::inline v0
