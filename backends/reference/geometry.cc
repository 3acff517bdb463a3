// See geometry.h. Tested by tests/unit/backends/reference/reference_scatter_test.cc (the examples of StableHLO's RFC, index_vector_dim
// anywhere).
#include "backends/reference/geometry.h"

#include <algorithm>
#include <utility>

namespace strew::inline v0::reference {
namespace {

bool contains(const std::vector<int64_t>& list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

std::vector<int64_t> pick(const std::vector<int64_t>& strides, const std::vector<int>& dims) {
  std::vector<int64_t> picked;
  for (const int d : dims) picked.push_back(strides[static_cast<size_t>(d)]);
  return picked;
}

}  // namespace

Bound::Bound(const Op& op, std::span<const TensorView> tensors) {
  std::vector<BoundTensor>* const lists[] = {&results, &operands, &indices, &updates, &extras};  // in the order of Role
  const std::vector<TensorSlot> slots = tensor_slots(op);
  for (size_t i = 0; i < slots.size(); ++i) lists[static_cast<size_t>(slots[i].role)]->emplace_back(tensors[i]);
  std::span<const BoundTensor> rest = indices;
  const auto add = [&](const auto& access) {
    const size_t count = access.more_indices.size() + 1;
    sources.push_back(rest.first(count));
    rest = rest.subspan(count);
  };
  std::visit(add, op);
  for (const Lookup& lookup : lookups_of(op)) add(lookup.gather);
}

std::vector<int64_t> made_dims(const Gather& lookup, const BoundTensor& table, const BoundTensor& indices) {
  std::vector<int64_t> positions, window, out;
  for (size_t d = 0; d < indices.dims.size(); ++d)
    if (static_cast<int64_t>(d) != lookup.dims.index_vector_dim) positions.push_back(indices.dims[d]);
  for (size_t d = 0; d < table.dims.size(); ++d) {
    const auto dim = static_cast<int64_t>(d);
    if (contains(lookup.dims.removed_dims, dim) || contains(lookup.dims.operand_batching_dims, dim)) continue;
    window.push_back(lookup.slice_sizes[d] == kDynamic ? table.dims[d] : lookup.slice_sizes[d]);
  }
  size_t p = 0, w = 0;
  for (size_t d = 0; d < positions.size() + window.size(); ++d)
    out.push_back(contains(lookup.dims.window_dims, static_cast<int64_t>(d)) ? window[w++] : positions[p++]);
  return out;
}

Geometry geometry_of(const Op& op, const Bound& bound) {
  const std::vector<int64_t>& indices = bound.indices[0].dims;
  if (!is_scatter(op)) return geometry(dims_of(op), bound.operands[0].dims, indices, bound.results[0].dims);
  const Lookup* const lookup = lookup_of(op, Role::updates, 0);
  return geometry(dims_of(op), bound.results[0].dims, indices,
                  lookup == nullptr ? bound.updates[0].dims : made_dims(lookup->gather, bound.updates[0], bound.sources[1][0]));
}

Geometry geometry(const DimensionNumbers& numbers, std::span<const int64_t> target, std::span<const int64_t> indices,
                  std::span<const int64_t> slice) {
  Geometry g;
  g.target.assign(target.begin(), target.end());
  g.index_vector_dim = static_cast<int>(numbers.index_vector_dim);
  for (size_t d = 0; d < indices.size(); ++d) {
    if (static_cast<int>(d) == g.index_vector_dim) continue;
    g.positions.push_back(indices[d]);
    g.index_of_position.push_back(static_cast<int>(d));
  }
  for (size_t d = 0; d < slice.size(); ++d) {
    if (contains(numbers.window_dims, static_cast<int64_t>(d))) {
      g.window.push_back(slice[d]);
      g.slice_of_window.push_back(static_cast<int>(d));
    } else {
      g.slice_of_position.push_back(static_cast<int>(d));
    }
  }
  const size_t rank = target.size();
  g.component.assign(rank, -1);
  g.batch.assign(rank, -1);
  g.window_dim.assign(rank, -1);
  for (size_t k = 0; k < numbers.index_map.size(); ++k) {
    g.target_of_component.push_back(static_cast<int>(numbers.index_map[k]));
    g.component[static_cast<size_t>(numbers.index_map[k])] = static_cast<int>(k);
  }
  for (size_t i = 0; i < numbers.operand_batching_dims.size(); ++i) {
    const auto index_dim = static_cast<int>(numbers.indices_batching_dims[i]);
    g.batch[static_cast<size_t>(numbers.operand_batching_dims[i])] = index_dim - (index_dim > g.index_vector_dim ? 1 : 0);
  }
  int window_dim = 0;
  for (size_t d = 0; d < rank; ++d) {
    const auto dim = static_cast<int64_t>(d);
    if (!contains(numbers.removed_dims, dim) && !contains(numbers.operand_batching_dims, dim)) g.window_dim[d] = window_dim++;
  }
  return g;
}

Stream slice_stream(const Geometry& g, BoundTensor tensor) {
  auto position_strides = pick(tensor.strides, g.slice_of_position);
  auto window_strides = pick(tensor.strides, g.slice_of_window);
  return {std::move(tensor), std::move(position_strides), std::move(window_strides)};
}

Stream extra_stream(const Geometry& g, ExtraKind kind, BoundTensor tensor) {
  if (kind == ExtraKind::per_element) return slice_stream(g, std::move(tensor));
  std::vector<int64_t> position_strides(g.positions.size(), 0), window_strides(g.window.size(), 0);
  if (kind == ExtraKind::per_position) position_strides = tensor.strides;
  if (kind == ExtraKind::per_window) window_strides = tensor.strides;
  return {std::move(tensor), std::move(position_strides), std::move(window_strides)};
}

Indices::Indices(const Geometry& g, std::span<const BoundTensor> tensors) {
  const auto dim = static_cast<size_t>(g.index_vector_dim);
  for (size_t k = 0; k < g.target_of_component.size(); ++k) {
    const BoundTensor& tensor = tensors[tensors.size() > 1 ? k : 0];
    const int64_t stride = dim < tensor.strides.size() ? tensor.strides[dim] : 0;
    components.push_back({tensor, pick(tensor.strides, g.index_of_position), static_cast<int64_t>(k) * stride});
  }
}

__int128 Indices::load(const Coords& position, size_t k) const {
  const auto& [tensor, position_strides, offset] = components[k];
  const Scalar value = tensor.load(dot(position, position_strides) + offset);
  if (tensor.dtype == DType::u64) return static_cast<__int128>(value.bits[0]);
  return decode_i64(tensor.dtype, value.bits[0]);
}

}  // namespace strew::inline v0::reference
