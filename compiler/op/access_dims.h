// AccessDims: the dimension numbers of a scatter or gather, decoded: per dim of each tensor, what the dim is for and
// which dims of the other tensors must have the same extent.
//
// Both ops have three kinds of tensors: the operand (and a scatter's result, which has the same dims), which is
// indexed; the indices; and the slices (updates of a scatter, result of a gather), whose dims are those of the index
// positions and those of the window. Planning, verification, builders, imports and descriptors all use AccessDims, so
// only this file interprets dimension numbers. The reference (backends/reference) interprets them a second time on
// purpose, so that a mistake in one of the two shows as a difference.
//
// An op that was not verified has AccessDims too: where the op names a dim that does not exist, or no dim, the entry is
// -1. In a verified op, -1 occurs only where a field's comment says so. The object holds copies and does not follow
// later changes of the op. Cost: linear in the ranks and lists. Tested by tests/unit/compiler/op/access_dims_test.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "strew/export.h"
#include "strew/op.h"

namespace strew::inline v0 {

/// How a dim of the operand appears in the slices.
enum class OperandDimKind : uint8_t {
  window,    ///< as a window dim of the slices
  removed,   ///< inserted_window_dims, collapsed_slice_dims: not at all; the window has extent 1 in it
  batching,  ///< input_batching_dims, operand_batching_dims: as a position dim
};

struct AccessDims {
  struct OperandDim {
    OperandDimKind kind = OperandDimKind::window;
    int component = -1;        ///< the index component that moves the window in this dim; -1: the window starts at 0
    int64_t slices_dim = -1;   ///< kind window: the dim of the slices
    int64_t indices_dim = -1;  ///< kind batching: the dim of indices
    /// Extent of the window in this dim: a gather's slice size, a scatter's extent in updates (1 if updates have no dim for it).
    int64_t window = kDynamic;
    friend bool operator==(const OperandDim&, const OperandDim&) = default;
  };
  /// A dim of the index positions: one of indices that is not index_vector_dim.
  struct Position {
    int64_t indices_dim = -1;
    int64_t slices_dim = -1;
    int64_t operand_dim = -1;  ///< the batching dim of the operand that is paired with this dim; -1: none
    friend bool operator==(const Position&, const Position&) = default;
  };
  struct SlicesDim {
    int64_t operand_dim = -1;  ///< of a window dim: the operand's dim; -1: this is a position dim
    int64_t indices_dim = -1;  ///< of a position dim: the dim of indices; -1: this is a window dim
  };

  explicit AccessDims(const Scatter& op);
  STREW_API explicit AccessDims(const Gather& op);
  explicit AccessDims(const Op& op);

  std::vector<OperandDim> operand;  ///< per dim of the operand
  std::vector<SlicesDim> slices;    ///< per dim of updates, or of a gather's result
  std::vector<Position> positions;  ///< in the order of the dims of indices, which is also that of the slices' position dims
  std::vector<int64_t> window;      ///< operand dims of kind window, in order, which is also that of the slices' window dims
  std::vector<int64_t> components;  ///< the operand dim of each entry of the index vector
  int64_t index_vector_dim = 0;     ///< the op's
  bool scalar_indices = false;      ///< index_vector_dim == rank(indices): each element is an index vector of one entry

  bool in_window(int64_t operand_dim) const { return kind(operand_dim) == OperandDimKind::window; }
  /// Is every window at coordinate 0 of the dim, whatever the indices are? If the extent of a fixed dim is 0, no window has an element,
  /// and neither the extents of the slices nor the bounds of the indices say so.
  bool is_fixed(int64_t operand_dim) const {
    return kind(operand_dim) == OperandDimKind::removed && operand[static_cast<size_t>(operand_dim)].component < 0;
  }
  OperandDimKind kind(int64_t operand_dim) const { return operand[static_cast<size_t>(operand_dim)].kind; }
  /// Has a tensor with the operand's dims one value for all elements of a window: is its stride 0 in all window dims that have more than one?
  bool repeats_along_window(const TensorType& type) const;
  /// Do the results of the scatter, which has these dims, hold one value per row? Where one repeats, all do: they have the same extents.
  bool holds_rows(const Scatter& op) const;
  /// The dim of the slices for operand dim window[w].
  int64_t slices_dim(size_t w) const { return operand[static_cast<size_t>(window[w])].slices_dim; }
  /// The dim of the slices for dim `indices_dim` of indices; -1 if that is not a position dim.
  int64_t slices_dim_of_indices(int64_t indices_dim) const;

  /// Extents of the index positions for indices with the dims `indices`, such as those of a call.
  std::vector<int64_t> position_extents(const std::vector<int64_t>& indices) const;
  /// Extents of the window in the slices: of the operand dims of kind window.
  std::vector<int64_t> window_extents() const;
  /// Dims of the slices from the extents of positions and window: the window's extents go to the dims that the op names
  /// (update_window_dims, offset_dims), the positions' to the other dims. Even of an op that is not verified, the
  /// result has every entry of both lists.
  std::vector<int64_t> slices_extents(const std::vector<int64_t>& position, const std::vector<int64_t>& of_window) const;

 private:
  AccessDims(const DimensionNumbers& numbers, const std::vector<int64_t>& operand_dims, const TensorType& indices,
             const std::vector<int64_t>& slices_dims);

  std::vector<int64_t> window_dims_;  ///< DimensionNumbers::window_dims
};

}  // namespace strew::inline v0
