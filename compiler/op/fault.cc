// See fault.h. Tested by tests/unit/backends/reference/reference_scatter_test.cc.
#include "compiler/op/fault.h"

#include "compiler/op/access_dims.h"

namespace strew::inline v0 {

FaultRule fault_rule(const Op& op) {
  const auto* s = std::get_if<Scatter>(&op);
  const bool normalizes = s != nullptr ? s->normalize_negative : std::get<Gather>(op).normalize_negative;
  const DType dtype = indices_of(op).dtype;
  return {s == nullptr, normalizes && !is_unsigned_integer(dtype), dtype == DType::u64};
}

Status fault_status(const Op& op, const strew_fault& fault, std::span<const int64_t> index_dims,
                    std::span<const int64_t> operand_dims) {
  const AccessDims dims(op);
  return fault_status(fault_rule(op), fault, dims.position_extents({index_dims.begin(), index_dims.end()}),
                      operand_dims[static_cast<size_t>(dims.components[static_cast<size_t>(fault.component)])]);
}

}  // namespace strew::inline v0
