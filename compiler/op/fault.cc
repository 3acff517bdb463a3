// See fault.h. Tested by tests/unit/backends/reference/reference_scatter_test.cc.
#include "compiler/op/fault.h"

#include "compiler/op/access_dims.h"

namespace strew::inline v0 {

FaultRule fault_rule(const Op& op) {
  const DType dtype = indices_of(op).dtype;
  return {!is_scatter(op), normalizes_negative(op) && !is_unsigned_integer(dtype), dtype == DType::u64};
}

Status fault_status(const VerifiedOp& op, const strew_fault& fault, std::span<const int64_t> index_dims,
                    std::span<const int64_t> operand_dims) {
  const AccessDims& dims = op.access();
  return fault_status(fault_rule(op), fault, dims.position_extents({index_dims.begin(), index_dims.end()}),
                      operand_dims[dims.components[fault.component]]);
}

}  // namespace strew::inline v0
