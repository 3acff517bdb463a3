// See access_dims.h. The constructor reads each list of the op once and enters it into tables by dim. It skips entries
// that are not dims of their tensor.
#include "compiler/op/access_dims.h"

#include <algorithm>

namespace strew::inline v0 {
namespace {

bool is_dim(int64_t dim, size_t rank) { return dim >= 0 && dim < static_cast<int64_t>(rank); }

const std::vector<int64_t>& dims_of_first(const std::vector<TensorType>& types) {
  static const auto& none = *new const std::vector<int64_t>;
  return types.empty() ? none : types[0].dims;
}

}  // namespace

AccessDims::AccessDims(const DimensionNumbers& numbers, const std::vector<int64_t>& operand_dims, const TensorType& indices,
                       const std::vector<int64_t>& slices_dims)
    : operand(operand_dims.size()),
      slices(slices_dims.size()),
      index_vector_dim(numbers.index_vector_dim),
      scalar_indices(!is_dim(numbers.index_vector_dim, indices.dims.size())),
      window_dims_(numbers.window_dims) {
  for (const int64_t d : numbers.removed_dims)
    if (is_dim(d, operand.size())) operand[d].kind = OperandDimKind::removed;
  std::vector<int64_t> walked(indices.dims.size(), -1);  // operand dim of each batching dim of indices
  for (size_t i = 0; i < numbers.operand_batching_dims.size(); ++i) {
    if (!is_dim(numbers.operand_batching_dims[i], operand.size())) continue;
    OperandDim& dim = operand[numbers.operand_batching_dims[i]];
    dim.kind = OperandDimKind::batching;
    if (i >= numbers.indices_batching_dims.size() || !is_dim(numbers.indices_batching_dims[i], walked.size())) continue;
    dim.indices_dim = numbers.indices_batching_dims[i];
    walked[dim.indices_dim] = numbers.operand_batching_dims[i];
  }
  for (size_t k = 0; k < numbers.index_map.size(); ++k) {
    components.push_back(is_dim(numbers.index_map[k], operand.size()) ? numbers.index_map[k] : -1);
    if (components[k] >= 0) operand[components[k]].component = static_cast<int>(k);
  }
  for (size_t d = 0; d < operand.size(); ++d) {
    if (operand[d].kind != OperandDimKind::window) continue;
    if (window.size() < window_dims_.size() && is_dim(window_dims_[window.size()], slices.size())) {
      operand[d].slices_dim = window_dims_[window.size()];
      slices[operand[d].slices_dim].operand_dim = static_cast<int64_t>(d);
    }
    window.push_back(static_cast<int64_t>(d));
  }
  std::vector<bool> is_window(slices.size(), false);
  for (const int64_t d : window_dims_)
    if (is_dim(d, slices.size())) is_window[d] = true;
  size_t place = 0;
  for (size_t d = 0; d < indices.dims.size(); ++d) {
    const auto dim = static_cast<int64_t>(d);
    if (dim == index_vector_dim) continue;
    while (place < slices.size() && is_window[place]) ++place;
    const bool stands = place < slices.size();
    if (stands) slices[place].indices_dim = dim;
    positions.push_back({dim, stands ? static_cast<int64_t>(place++) : -1, walked[d]});
  }
}

AccessDims::AccessDims(const Scatter& op)
    : AccessDims(op.dims, dims_of_first(op.operands), op.indices, dims_of_first(op.updates)) {
  for (OperandDim& dim : operand) {
    if (dim.kind != OperandDimKind::window) dim.window = 1;
    if (dim.slices_dim >= 0) dim.window = op.updates[0].dims[dim.slices_dim];
  }
}

AccessDims::AccessDims(const Gather& op) : AccessDims(op.dims, op.operand.dims, op.indices, op.result.dims) {
  for (size_t d = 0; d < operand.size() && d < op.slice_sizes.size(); ++d) operand[d].window = op.slice_sizes[d];
}

AccessDims::AccessDims(const Op& op)
    : AccessDims(is_scatter(op) ? AccessDims(std::get<Scatter>(op)) : AccessDims(std::get<Gather>(op))) {}

int64_t AccessDims::slices_dim_of_indices(int64_t indices_dim) const {
  for (const Position& position : positions)
    if (position.indices_dim == indices_dim) return position.slices_dim;
  return -1;
}

bool AccessDims::repeats_along_window(const TensorType& type) const {
  if (type.strides.size() != operand.size() || type.dims.size() != operand.size()) return false;
  bool repeats = false;
  for (const int64_t d : window) {
    if (type.dims[d] == 1) continue;
    if (type.strides[d] != 0) return false;
    repeats = true;
  }
  return repeats;
}

bool AccessDims::holds_rows(const Scatter& op) const {
  return std::ranges::any_of(op.results, [&](const TensorType& type) { return repeats_along_window(type); });
}

std::vector<int64_t> AccessDims::position_extents(const std::vector<int64_t>& indices) const {
  std::vector<int64_t> out;
  for (const Position& position : positions)
    if (is_dim(position.indices_dim, indices.size())) out.push_back(indices[position.indices_dim]);
  return out;
}

std::vector<int64_t> AccessDims::window_extents() const {
  std::vector<int64_t> out;
  for (const int64_t d : window) out.push_back(operand[d].window);
  return out;
}

std::vector<int64_t> AccessDims::slices_extents(const std::vector<int64_t>& position,
                                                const std::vector<int64_t>& of_window) const {
  const size_t rank = position.size() + of_window.size();
  std::vector<bool> is_window(rank, false);
  for (const int64_t d : window_dims_)
    if (is_dim(d, rank)) is_window[d] = true;
  std::vector<int64_t> out;
  size_t p = 0, w = 0;
  for (size_t d = 0; d < rank; ++d) {
    const bool from_window = is_window[d] ? w < of_window.size() : p >= position.size();
    out.push_back(from_window ? of_window[w++] : position[p++]);
  }
  return out;
}

}  // namespace strew::inline v0
