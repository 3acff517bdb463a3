// Geometry: StableHLO's dimension numbers of a scatter or gather with the extents of one call, asked the way the reference walks:
// index positions outside, window inside. `slice` is the tensor with one element per position and window element: updates of a
// scatter, result of a gather. `target` is the indexed tensor: result of a scatter, operand of a gather.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/reference/index_space.h"
#include "strew/op.h"

namespace strew::inline v0::reference {

struct Geometry {
  std::vector<int64_t> positions;  ///< extents of the index positions: dims of indices without index_vector_dim
  std::vector<int64_t> window;     ///< extents of the window dims
  std::vector<int64_t> target;

  std::vector<int> slice_of_position, slice_of_window;  ///< the slice dim of each position dim, of each window dim
  std::vector<int> index_of_position;                   ///< the dim of indices of each position dim
  int index_vector_dim = 0;                             ///< == rank(indices): indices are scalars
  std::vector<int> target_of_component;

  /// Per target dim, or -1: its index component, the position dim that batches it, its window dim.
  std::vector<int> component, batch, window_dim;

  /// Extent of the window along a target dim; 1 where the dim is inserted, collapsed or batching.
  int64_t window_extent(size_t dim) const { return window_dim[dim] < 0 ? 1 : window[static_cast<size_t>(window_dim[dim])]; }
};

Geometry geometry(const Scatter& op, const BoundTensor& target, const BoundTensor& indices, const BoundTensor& slice);
Geometry geometry(const Gather& op, const BoundTensor& target, const BoundTensor& indices, const BoundTensor& slice);

/// A tensor read or written once per (position, window element): updates, extras, a gather's result. Dims it lacks have stride 0.
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

/// The index vectors.
struct Indices {
  BoundTensor tensor;
  std::vector<int64_t> position_strides;
  int64_t component_stride = 0;

  Indices(const Geometry& g, BoundTensor indices);
  /// Component `k` as the number the caller wrote: u64 unsigned.
  __int128 load(const Coords& position, size_t k) const;
};

}  // namespace strew::inline v0::reference
