// See fault_text.h. strew_fault is four integers because machine code writes it; shapes, signedness and rules come from the op
// and the call. Tested by tests/unit/reference_scatter_test.
#include "runtime/call/fault_text.h"

#include <string>
#include <vector>

namespace strew {
namespace {

std::string position_text(int64_t position, std::span<const int64_t> dims) {
  std::vector<int64_t> coord(dims.size());
  int64_t rest = position;
  for (size_t d = dims.size(); d-- > 0;) {
    coord[d] = dims[d] > 0 ? rest % dims[d] : 0;
    rest = dims[d] > 0 ? rest / dims[d] : 0;
  }
  std::string text = "[";
  for (size_t d = 0; d < coord.size(); ++d) text += (d == 0 ? "" : ",") + std::to_string(coord[d]);
  return text + "] (linear " + std::to_string(position) + ")";
}

/// Legal values, as the user would write them. A negative value -dim <= v <= bound - dim counts from the end.
std::string expected_text(int64_t bound, int64_t dim, bool negatives) {
  if (bound < 0) return "no value: the indexed dim has extent " + std::to_string(dim);
  const std::string upper = " <= v <= " + std::to_string(bound);
  if (!negatives || dim == 0) return "0" + upper;
  if (bound >= dim - 1) return std::to_string(-dim) + upper;  // the ranges touch
  return "0" + upper + " or " + std::to_string(-dim) + " <= v <= " + std::to_string(bound - dim);
}

}  // namespace

Status fault_status(const Op& op, const strew_fault& fault, std::span<const int64_t> index_dims,
                    std::span<const int64_t> operand_dims) {
  const auto* s = std::get_if<Scatter>(&op);
  const auto* g = std::get_if<Gather>(&op);
  const int64_t index_vector_dim = s != nullptr ? s->dims.index_vector_dim : g->dims.index_vector_dim;
  const std::vector<int64_t>& index_map = s != nullptr ? s->dims.scatter_dims_to_operand_dims : g->dims.start_index_map;
  const bool negatives =
      (s != nullptr ? s->normalize_negative : g->normalize_negative) && !is_unsigned_integer(indices_of(op).dtype);
  std::vector<int64_t> position_dims;
  for (size_t d = 0; d < index_dims.size(); ++d)
    if (static_cast<int64_t>(d) != index_vector_dim) position_dims.push_back(index_dims[d]);
  const int64_t dim = operand_dims[static_cast<size_t>(index_map[static_cast<size_t>(fault.component)])];
  const std::string value =
      indices_of(op).dtype == DType::u64 ? std::to_string(static_cast<uint64_t>(fault.value)) : std::to_string(fault.value);
  return out_of_bounds(std::string("index out of bounds: ") + (s != nullptr ? "update" : "index") + " position " +
                       position_text(fault.position, position_dims) + ", component " + std::to_string(fault.component) +
                       ": value " + value + ", expected " + expected_text(fault.bound, dim, negatives));
}

}  // namespace strew
