// See fault.h. Tested by tests/unit/reference_scatter_test.cc.
#include "compiler/op/fault.h"

#include <vector>

namespace strew {

FaultRule fault_rule(const Op& op) {
  const auto* s = std::get_if<Scatter>(&op);
  const bool normalizes = s != nullptr ? s->normalize_negative : std::get<Gather>(op).normalize_negative;
  const DType dtype = indices_of(op).dtype;
  return {s == nullptr, normalizes && !is_unsigned_integer(dtype), dtype == DType::u64};
}

Status fault_status(const Op& op, const strew_fault& fault, std::span<const int64_t> index_dims,
                    std::span<const int64_t> operand_dims) {
  const auto* s = std::get_if<Scatter>(&op);
  const auto* g = std::get_if<Gather>(&op);
  const int64_t index_vector_dim = s != nullptr ? s->dims.index_vector_dim : g->dims.index_vector_dim;
  const std::vector<int64_t>& index_map = s != nullptr ? s->dims.scatter_dims_to_operand_dims : g->dims.start_index_map;
  std::vector<int64_t> position_dims;
  for (size_t d = 0; d < index_dims.size(); ++d)
    if (static_cast<int64_t>(d) != index_vector_dim) position_dims.push_back(index_dims[d]);
  return fault_status(fault_rule(op), fault, position_dims,
                      operand_dims[static_cast<size_t>(index_map[static_cast<size_t>(fault.component)])]);
}

}  // namespace strew
