// View: where the elements of a result lie in the tensor that it is made of by movement. Transposes, broadcasts, slices, reverses and most reshapes
// change only strides and the first element, so nothing is moved for them. Tested by tests/unit/compiler/program/pieces_test.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "strew/program.h"

namespace strew::inline v0 {

struct View {
  std::vector<int64_t> dims;
  int64_t first = 0;             ///< the number of the first element in the tensor
  std::vector<int64_t> strides;  ///< per dim, in elements
  friend bool operator==(const View&, const View&) = default;

  /// All elements of a row-major tensor.
  static View of(std::vector<int64_t> dims);
  int64_t elements() const;
  bool is_contiguous() const;
};

/// Is the operation one that moves elements, and that may have a view as its result? The starts of such operations are known before the call.
bool moves(const Compute& compute);

/// Makes the argument's view that of the result, which is of type `type`: the operation's, but with the dims that it takes (takes_shape). Does nothing and
/// returns false if strides cannot say it (a reshape that merges dims which lie apart), or if the argument does not fit, which the interpreter reports.
bool move(const Compute& compute, const TensorType& type, View& view);

}  // namespace strew::inline v0
