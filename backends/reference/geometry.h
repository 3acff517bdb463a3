// Geometry: the dimension numbers of a scatter or gather (as in StableHLO) and the extents of one call, arranged for
// the reference's loops: index positions outside, elements of a window inside. `slice` is the tensor that has one
// element per position and window element: the updates of a scatter, the result of a gather. `target` is the indexed
// tensor: the result of a scatter, the operand of a gather. Tested by tests/unit/backends/reference/reference_scatter_test.cc and
// tests/unit/backends/reference/reference_gather_test.cc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/reference/index_space.h"
#include "strew/op.h"

namespace strew::inline v0::reference {

struct Geometry {
  std::vector<int64_t> positions;  ///< extents of the position dims: the dims of indices except index_vector_dim
  std::vector<int64_t> window;     ///< extents of the window dims
  std::vector<int64_t> target;     ///< extents of the indexed tensor

  std::vector<int> slice_of_position, slice_of_window;  ///< the slice dim of each position dim; of each window dim
  std::vector<int> index_of_position;                   ///< the dim of indices of each position dim
  int index_vector_dim = 0;                             ///< rank(indices) if every index is a scalar
  std::vector<int> target_of_component;                 ///< the target dim of each index component

  /// For each target dim, each of them -1 if there is none: its index component, the position dim that batches it, its
  /// window dim.
  std::vector<int> component, batch, window_dim;

  /// Extent of the window along a target dim; 1 where the dim is inserted, collapsed or batching.
  int64_t window_extent(size_t dim) const { return window_dim[dim] < 0 ? 1 : window[static_cast<size_t>(window_dim[dim])]; }
};

/// `target`, `indices`, `slice`: extents at the call.
Geometry geometry(const DimensionNumbers& numbers, std::span<const int64_t> target, std::span<const int64_t> indices,
                  std::span<const int64_t> slice);
/// The tensors of a call by role.
struct Bound {
  std::vector<BoundTensor> results, operands, indices, updates, extras;
  /// Index tensors of each source, which lie one after the other in `indices`: the op's own, then those of each look-up.
  std::vector<std::span<const BoundTensor>> sources;

  Bound(const Op& op, std::span<const TensorView> tensors);
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;
};
/// Extents at the call of what a look-up makes, from those of its table and indices.
std::vector<int64_t> made_dims(const Gather& lookup, const BoundTensor& table, const BoundTensor& indices);
/// The geometry of a call's own indices.
Geometry geometry_of(const Op& op, const Bound& bound);

/// A tensor that is read or written once per position and window element: updates, extras, a gather's result. Its
/// stride is 0 along dims that it does not have.
struct Stream {
  BoundTensor tensor;
  std::vector<int64_t> position_strides, window_strides;

  int64_t offset(const Coords& position, const Coords& in_window) const {
    return dot(position, position_strides) + dot(in_window, window_strides);
  }
  Scalar load(const Coords& position, const Coords& in_window) const { return tensor.load(offset(position, in_window)); }
};

Stream slice_stream(const Geometry& g, BoundTensor tensor);
Stream extra_stream(const Geometry& g, ExtraKind kind, BoundTensor tensor);

/// The index vectors of a source, which lie in one tensor, or with each component in a tensor of its own.
struct Indices {
  struct Component {
    BoundTensor tensor;
    std::vector<int64_t> position_strides;
    int64_t offset = 0;
  };
  std::vector<Component> components;

  Indices(const Geometry& g, std::span<const BoundTensor> tensors);
  /// Component `k` of the index vector at `position`, as a number: an index of type u64 is never negative.
  __int128 load(const Coords& position, size_t k) const;
};

}  // namespace strew::inline v0::reference
