// See fault.h. Tested by tests/unit/backends/reference/reference_scatter_test.cc.
#include "compiler/op/fault.h"

#include <string>
#include <utility>

#include "compiler/op/access_dims.h"
#include "compiler/op/component_tensor.h"
#include "compiler/op/slot_name.h"

namespace strew::inline v0 {

FaultRule fault_rule(const Op& op, int64_t source, int64_t component) {
  const auto rule = [&](const auto& of, std::string position_of) -> FaultRule {
    const DType dtype = index_tensors(of)[tensor_of_component(of, static_cast<size_t>(component))]->dtype;
    return {std::move(position_of), of.normalize_negative && !is_unsigned_integer(dtype), dtype == DType::u64};
  };
  if (source > 0) {
    const Lookup& lookup = lookups_of(op)[static_cast<size_t>(source - 1)];
    return rule(lookup.gather, "look-up of " + slot_name(lookup.of, lookup.index) + ",");
  }
  return is_scatter(op) ? rule(std::get<Scatter>(op), "update") : rule(std::get<Gather>(op), "index");
}

Status fault_status(const VerifiedOp& op, const strew_fault& fault, std::span<const int64_t> index_dims,
                    std::span<const int64_t> operand_dims) {
  const auto status = [&](const AccessDims& dims) {
    return fault_status(fault_rule(op, fault.source, fault.component), fault,
                        dims.position_extents({index_dims.begin(), index_dims.end()}),
                        operand_dims[dims.components[fault.component]]);
  };
  return fault.source == 0 ? status(op.access()) : status(AccessDims(lookups_of(op)[fault.source - 1].gather));
}

}  // namespace strew::inline v0
