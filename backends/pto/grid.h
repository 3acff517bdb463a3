// Grid: a view of a contiguous tensor as a matrix whose row length is the stride of one loop. A step along any other
// loop is then a number of whole rows, or a number of columns. Tested by tests/golden/pto_program_test.cc.
#pragma once

#include <utility>
#include <vector>

#include "backends/pto/frame.h"

namespace strew::inline v0::pto {

/// A loop's variable and its step in elements of a tensor.
using Step = std::pair<Number, Term>;

/// A view of a tensor as rows of `pitch` elements.
class Grid {
 public:
  /// `pitch`: the tensor's stride from one row of a tile to the next; 0: the whole tensor is one row.
  Grid(Frame& frame, int tensor, const std::string& hint, const Term& pitch);
  /// The partition of `rows` x `cols` elements that starts at row `first_row` and column `col`, moved by `steps`.
  Named part(const std::string& hint, const Number& first_row, const std::vector<Step>& steps, const Number& col,
             const Number& rows, const Number& cols) const;
  /// The partition of `count` elements that starts at element `first`, moved by `steps`. The pitch must be 0.
  Named line(const std::string& hint, const Number& first, const std::vector<Step>& steps, const Number& count) const;

 private:
  Frame& frame_;
  int tensor_;
  Term pitch_;
  Named view_;
};

}  // namespace strew::inline v0::pto
