// IndexColumns: the index vectors of a kernel, component by component, as elements of the values that they are read from.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/import/fusion/steps.h"

namespace strew::inline v0::fusion {

/// The fields of a scatter or gather that say how its indices are read, as pointers to be written through.
struct IndexSide {
  TensorType* indices;
  DimensionNumbers* numbers;
  const std::vector<int64_t>* operand;  ///< the operand's dims
};
IndexSide index_side(Op& op);

/// Each column is one component of the index vectors, as a function of the dims of the value that the kernel has as its indices (the frame).
struct IndexColumns {
  std::vector<Element> columns;
  std::vector<int64_t> positions;  ///< the frame's dims over which the columns are to run, in order

  /// Is there one tensor that holds all columns, and whose dims run over the positions, in order? Returns which dim of that tensor,
  /// columns[0].value, is the index vector (its rank if each of its elements is an index vector); -1 if there is none. `frame`: the dims of
  /// the frame.
  int direct(const Reader& reader, const std::vector<int64_t>& frame) const;

 private:
  bool covers(const Reader& reader, const std::vector<int64_t>& frame, const Element& element, int skip) const;
};

/// Adds an operation on the kernel's indices. Returns its value.
int add_movement(const FusionContext& context, int kernel, ComputeOp op, std::vector<int> arguments, TensorType result);
/// Adds operations that bring the elements of `column`, taken of `value`, to a tensor of the dims `dims`, where dim targets[f] is the frame's
/// dim f. All extents must be static. Returns its value.
int add_column(const FusionContext& context, int kernel, int value, const Element& column, const std::vector<int64_t>& dims,
               const std::vector<int64_t>& targets);

}  // namespace strew::inline v0::fusion
