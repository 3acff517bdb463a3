// AccessDims: the dimension numbers of a scatter or a gather as one view, in which every dim says what it is and which dims of the other
// tensors are the same number.
//
// Both ops pair three tensors: the operand (of a scatter: its result, too), which is indexed; the indices; and the slices (updates of a
// scatter, result of a gather), whose dims are those of the index positions and those of the window. Planning, verification, builders,
// imports and descriptors ask this view, so the dimension numbers are interpreted here only; the reference (backends/reference) has a
// reading of its own on purpose, so that no mistake can hide in both.
//
// An op that was not verified has a view, too: a dim named in it exists in its tensor, and where the op names a dim that does not exist, or
// none, the view has -1. In a verified op, -1 occurs only where a field's comment says so. A view is a copy: it does not follow later changes
// of its op. Cost: linear in the ranks and lists. Tested by tests/unit/access_dims_test.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "strew/export.h"
#include "strew/op.h"

namespace strew::inline v0 {

/// What a dim of the operand is to the slices.
enum class OperandDimKind : uint8_t {
  window,    ///< the slices have a dim for it
  removed,   ///< inserted_window_dims, collapsed_slice_dims: the window has one element in it, the slices have no dim for it
  batching,  ///< input_batching_dims, operand_batching_dims: it is walked with a dim of the positions
};

struct AccessDims {
  struct OperandDim {
    OperandDimKind kind = OperandDimKind::window;
    int component = -1;        ///< the index component that moves the window in it; -1: the window starts at 0
    int64_t slices_dim = -1;   ///< kind window: the slices' dim
    int64_t indices_dim = -1;  ///< kind batching: the dim of indices
    /// Extent of the window in it: of a gather its slice size, of a scatter the extent in updates (1 where they have no dim for it).
    int64_t window = kDynamic;
  };
  /// A dim of the index positions: one of indices that is not index_vector_dim.
  struct Position {
    int64_t indices_dim = -1;
    int64_t slices_dim = -1;
    int64_t operand_dim = -1;  ///< the batching dim of the operand that it walks; -1: none
  };
  struct SlicesDim {
    int64_t operand_dim = -1;  ///< a window dim; -1: a position
    int64_t indices_dim = -1;  ///< a position; -1: a window dim
  };

  explicit AccessDims(const Scatter& op);
  STREW_API explicit AccessDims(const Gather& op);
  explicit AccessDims(const Op& op);

  std::vector<OperandDim> operand;  ///< each dim of the operand
  std::vector<SlicesDim> slices;    ///< each dim of updates, or of a gather's result
  std::vector<Position> positions;  ///< in the order of the dims of indices, which is also that of the slices' dims
  std::vector<int64_t> window;      ///< operand dims of kind window, in order; the slices' window dims come in the same order
  std::vector<int64_t> components;  ///< the operand dim of each entry of the index vector
  int64_t index_vector_dim = 0;     ///< as the op has it
  bool scalar_indices = false;      ///< index_vector_dim is no dim of indices: each element is an index vector of one entry

  bool in_window(int64_t operand_dim) const { return kind(operand_dim) == OperandDimKind::window; }
  OperandDimKind kind(int64_t operand_dim) const { return operand[static_cast<size_t>(operand_dim)].kind; }
  /// The slices' dim of window[w].
  int64_t slices_dim(size_t w) const { return operand[static_cast<size_t>(window[w])].slices_dim; }
  /// The slices' dim of a position dim of indices; -1: it is none.
  int64_t slices_dim_of_indices(int64_t indices_dim) const;

  /// Extents of the index positions, `indices` being the dims of the indices (those at the call, say).
  std::vector<int64_t> position_extents(const std::vector<int64_t>& indices) const;
  /// Extents of the window without the dims that the slices have not.
  std::vector<int64_t> window_extents() const;
  /// Dims of the slices with these extents: those of the window stand where the op says, those of the positions at the other places. The
  /// result has every entry of both lists, whatever the op says.
  std::vector<int64_t> slices_extents(const std::vector<int64_t>& position, const std::vector<int64_t>& of_window) const;

 private:
  struct Numbers;
  AccessDims(const Numbers& numbers, const std::vector<int64_t>& operand_dims, const TensorType& indices,
             const std::vector<int64_t>& slices_dims);

  std::vector<int64_t> window_side_;  ///< update_window_dims, offset_dims
};

}  // namespace strew::inline v0
